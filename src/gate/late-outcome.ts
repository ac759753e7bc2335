import type { AuditLog } from '../audit/log.ts';
import type { AuditClient } from '../audit/record.ts';
import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { LateOutcome } from '../core/tool.ts';

interface AnsweredCall {
  id: string;
  tool: string;
  client: AuditClient;
  /** Settles when the call's own outcome is written, which the late one has to follow. */
  answered: Promise<void>;
}

/** Makes the function by which a tool tells how something ended that outlived its call. */
export function lateOutcomes(audit: AuditLog, log: Log) {
  return ({ id, tool, client, answered }: AnsweredCall) =>
    async ({ job, exitCode, durationMs, errorCode, message }: LateOutcome): Promise<void> => {
      await answered;
      try {
        await audit.append({
          event: 'ended',
          time: new Date().toISOString(),
          id,
          tool,
          client,
          job,
          outcome: errorCode === undefined ? 'ok' : 'error',
          ...(errorCode !== undefined && { error_code: errorCode }),
          exit_code: exitCode,
          duration_ms: durationMs,
          ...(message !== undefined && { message }),
        });
      } catch (error) {
        log.error('audit record not written', { id, reason: messageOf(error) });
      }
    };
}
