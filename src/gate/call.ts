import { randomUUID } from 'node:crypto';

import type { AuditLog } from '../audit/log.ts';
import { type AuditClient, type AuditRecord, clipArguments } from '../audit/record.ts';
import type { Decision } from '../core/decision.ts';
import { ToolError, messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { ExtraContent, Tool } from '../core/tool.ts';
import { stripInvisible } from '../core/visible-text.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { lateOutcomes } from './late-outcome.ts';
import { type Limits, type Place, createCallRegister, withDeadline } from './limits.ts';
import { redactObject } from './redact.ts';
import { type CallResult, asToolError, callResult, errorValue, invalidInput, outcomeOf } from './result.ts';

export interface CallRequest {
  tool: string;
  arguments: unknown;
  client: AuditClient;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  progress: (message: string) => void;
}

export interface Gate {
  /**
   * The one door: parse → decide → audit intent → run → redact and trim → audit outcome.
   * Failures come back as results, never as exceptions, but for an unknown tool.
   * @throws UnknownToolError after it was audited
   */
  call(request: CallRequest): Promise<CallResult>;
  /** Records a tools/call that the protocol layer turned away before it reached the gate. */
  recordRejected(client: AuditClient, params: unknown, reason: string): Promise<void>;
  /** Refuses new calls, waits at most `graceMs` for those under way, then aborts the rest and waits for them. */
  settle(graceMs: number): Promise<void>;
}

export class UnknownToolError extends Error {
  constructor(tool: string, known: readonly string[]) {
    super(`Unknown tool: ${tool.slice(0, 64)}. The tools are ${known.join(', ')}.`);
    this.name = 'UnknownToolError';
  }
}

interface GateParts {
  tools: readonly Tool[];
  audit: AuditLog;
  metrics: Metrics;
  redact: (text: string) => string;
  limits: Limits;
  log: Log;
}

/**
 * In characters of JSON. The largest honest result is a body of 10 MiB in base64, asked for by `max_bytes`; beyond
 * that a result costs memory in every part it passes and is of no use to any assistant.
 */
const LARGEST_RESULT = 24 * 1024 * 1024;
const LONGEST_PROGRESS = 1_000;

type Event = Omit<AuditRecord, 'time' | 'id' | 'client'>;

export function createGate({ tools, audit, metrics, redact, limits, log }: GateParts): Gate {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  // Stripped first: characters that nobody sees would keep a secret from being recognised.
  const clean = (text: string) => redact(stripInvisible(text));
  const calls = createCallRegister(limits);
  const lateOutcomeOf = lateOutcomes(audit, log);
  metrics.gauge('calls_under_way', 'Tool calls that have not ended yet.', () => calls.running());

  function count(call: Call, { outcome, error_code: errorCode, rule }: Event): void {
    // A name that no tool has would be a label of the client's choosing.
    const tool = byName.has(call.request.tool) ? call.request.tool : 'unknown';
    const seconds = (performance.now() - call.started) / 1000;
    const facts = { id: call.id, tool, outcome: outcome ?? 'error', errorCode, rule, seconds };
    metrics.call(facts);
    log.info('call', { ...facts, client: call.request.client });
  }

  /** Counts and records a call that does not become an action; resolves as `record`. */
  function refused(call: Call, event: Omit<Event, 'event'>): Promise<CallResult | undefined> {
    const refusal: Event = { ...event, event: 'refused' };
    count(call, refusal);
    return record(call, 'durable', refusal);
  }

  /** Writes a record. Resolves with the failure that answers the call instead, where it cannot be written. */
  async function record(
    call: Call,
    how: 'durable' | 'written',
    event: Event,
  ): Promise<CallResult | undefined> {
    try {
      const line = { ...event, time: new Date().toISOString(), id: call.id, client: call.request.client };
      await (how === 'durable' ? audit.appendDurable(line) : audit.append(line));
      return undefined;
    } catch (error) {
      log.error('audit record not written', { id: call.id, reason: messageOf(error) });
      return callResult(errorValue(asToolError(error)), true);
    }
  }

  /** The result of a value: without secrets and invisible characters; refused when it is too large to be of use. */
  function resultOf(value: Record<string, unknown>, isError: boolean, extra?: ExtraContent[]): CallResult {
    const redacted = redactObject(value, clean);
    const result = callResult(redacted.value, isError, extra, redacted.json);
    const [block] = result.content;
    if (block?.type === 'text' && block.text.length > LARGEST_RESULT) {
      const tooLarge = new ToolError('too_large', `The result has ${block.text.length} characters of JSON.`, {
        hint: 'Ask for less: a filter, a smaller page or a lower limit.',
      });
      return callResult(errorValue(tooLarge), true);
    }
    return result;
  }

  async function run(
    call: Call,
    tool: Tool,
    input: unknown,
    decision: Decision,
    place: Place,
  ): Promise<CallResult> {
    try {
      const signals = [call.request.signal, place.stop.signal];
      const { value, extra } = await withDeadline(tool.deadlineMs(input), signals, (signal) =>
        tool.run(input, {
          id: call.id,
          signal,
          dryRun: decision.verdict === 'dry_run',
          log,
          // Cut after the redaction: half a secret is not recognised as one.
          progress: (message) => call.request.progress(clean(message).slice(-LONGEST_PROGRESS)),
          lateOutcome: lateOutcomeOf({
            id: call.id,
            tool: tool.name,
            client: call.request.client,
            answered: call.answered,
          }),
        }),
      );
      return resultOf(value, false, extra);
    } catch (error) {
      const failure = asToolError(error);
      if (failure.code === 'internal') {
        log.error('tool failed unexpectedly', { id: call.id, tool: tool.name, stack: stackOf(error) });
      }
      return resultOf(errorValue(failure), true);
    }
  }

  return {
    async call(request) {
      let answer = () => {};
      const answered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      const call: Call = { id: randomUUID(), request, started: performance.now(), answered };
      const args = clipArguments(request.arguments);
      const tool = byName.get(request.tool);
      const about = { tool: request.tool.slice(0, 64), arguments: args };
      if (!tool) {
        const unwritten = await refused(call, {
          ...about,
          decision: 'invalid',
          rule: 'unknown tool',
          outcome: 'error',
        });
        if (unwritten) return unwritten;
        throw new UnknownToolError(clean(request.tool), [...byName.keys()]);
      }

      const parsed = tool.input.safeParse(request.arguments ?? {}, { reportInput: true });
      if (!parsed.success) {
        const error = invalidInput(tool.name, tool.input, parsed.error.issues);
        const unwritten = await refused(call, {
          ...about,
          decision: 'invalid',
          outcome: 'error',
          error_code: error.code,
        });
        return unwritten ?? resultOf(errorValue(error), true);
      }

      const decision = tool.decide(parsed.data);
      if (decision.verdict === 'refuse') {
        const isError = 'error' in decision;
        const unwritten = await refused(call, {
          ...about,
          decision: 'refuse',
          rule: decision.rule,
          outcome: isError ? 'error' : 'blocked',
          ...(isError && { error_code: decision.error.code }),
        });
        return unwritten ?? resultOf(isError ? errorValue(decision.error) : decision.answer, isError);
      }

      // Before the intent: what is refused here is recorded as refused, and never as begun.
      const admission = calls.enter(tool.name, decision.verdict === 'allow');
      if ('error' in admission) {
        const { rule, error } = admission;
        const refusal = { decision: 'refuse', rule, outcome: 'error', error_code: error.code } as const;
        return (await refused(call, { ...about, ...refusal })) ?? resultOf(errorValue(error), true);
      }
      const { place } = admission;
      try {
        const intent: Event = { ...about, event: 'intent', decision: decision.verdict };
        const unwritten = await record(call, 'durable', intent);
        if (unwritten) return unwritten;

        const result = await run(call, tool, parsed.data, decision, place);
        const outcome = outcomeOf(result);
        count(call, { event: 'outcome', ...outcome });
        // The action is done: a log that fails now is reported, but the client still gets the result.
        await record(call, 'written', {
          event: 'outcome',
          tool: tool.name,
          ...outcome,
          duration_ms: Math.round(performance.now() - call.started),
          bytes: result.content[0]?.type === 'text' ? Buffer.byteLength(result.content[0].text) : 0,
        });
        answer();
        return result;
      } finally {
        place.leave();
      }
    },

    async recordRejected(client, params, reason) {
      const { name, arguments: args } = (params ?? {}) as { name?: unknown; arguments?: unknown };
      await audit.appendDurable({
        event: 'refused',
        time: new Date().toISOString(),
        id: randomUUID(),
        ...(typeof name === 'string' && { tool: name.slice(0, 64) }),
        client,
        arguments: clipArguments(args),
        decision: 'invalid',
        rule: reason,
        outcome: 'error',
      });
    },

    settle: (graceMs) => calls.settle(graceMs),
  };
}

interface Call {
  readonly id: string;
  readonly request: CallRequest;
  readonly started: number;
  /** Settles once its outcome is written. */
  readonly answered: Promise<void>;
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined;
}
