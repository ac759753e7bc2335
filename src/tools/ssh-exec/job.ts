import { randomBytes } from 'node:crypto';

import { ToolError } from '../../core/errors.ts';
import type { JobSummary } from '../../core/jobs.ts';
import { type OutputLog, createOutputLog } from './output-log.ts';
import type { CommandResult } from './run-command.ts';

/** Kept of each stream between two reads. */
const RING_BYTES = 256 * 1024;
const LONGEST_COMMAND = 1_000;

/** What runs where, for everybody who looks at a job. */
export interface JobFacts {
  device: string;
  address: string;
  user: string;
  command: string;
}

/** How a job ended. */
export interface JobEnd {
  exit_code: number | null;
  signal: string | null;
  timed_out: boolean;
  duration_ms: number;
  hint?: string | undefined;
  /** Who ended it, as `cancelled by a call`; undefined where nobody did. */
  cancelled?: string | undefined;
  /** Nobody knows how it ended: the connection broke, say. */
  failure?: ToolError | undefined;
}

/** What a read of a job answers with; the streams hold what was not told before. */
export interface JobReading extends JobFacts {
  job: string;
  running: boolean;
  exit_code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
  stdout_truncated: boolean;
  stderr_truncated: boolean;
  duration_ms: number;
  timed_out: boolean;
  dry_run: false;
  reason?: string;
  hint?: string;
}

/** A command that may go on after its call was answered: its output, its state, and the way to end it. */
export class Job {
  readonly id = randomBytes(6).toString('hex');
  readonly facts: JobFacts;
  /** Resolves when the command has ended. */
  readonly ended: Promise<void>;
  end: JobEnd | undefined;

  #startedAt = new Date();
  #started = performance.now();
  readonly #stop = new AbortController();
  readonly #logs: Record<'stdout' | 'stderr', OutputLog>;
  #endedAt: Date | undefined;
  #stoppedBy: string | undefined;
  #tellEnd: () => void = () => {};
  #waiting: (() => void)[] = [];

  constructor(facts: JobFacts, ringBytes = RING_BYTES) {
    this.facts = { ...facts, command: clipped(facts.command, LONGEST_COMMAND) };
    this.#logs = { stdout: createOutputLog(ringBytes), stderr: createOutputLog(ringBytes) };
    this.ended = new Promise((resolve) => {
      this.#tellEnd = resolve;
    });
  }

  /** The command has been started on the device; its time runs from now. */
  begin(): void {
    this.#startedAt = new Date();
    this.#started = performance.now();
  }

  /** Aborted when the command is to be ended on the device. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Bytes of memory that its output takes. */
  get size(): number {
    return this.#logs.stdout.size + this.#logs.stderr.size;
  }

  add(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    this.#logs[stream].add(chunk);
    this.#wake();
  }

  /** Has the command ended; does nothing to one that is at its end already. */
  stop(reason: ToolError, by: string): void {
    if (this.end || this.#stop.signal.aborted) return;
    this.#stoppedBy = by;
    this.#stop.abort(reason);
  }

  succeeded({ exit_code, signal, timed_out, duration_ms, hint }: CommandResult): JobEnd {
    return this.#settle({ exit_code, signal, timed_out, duration_ms, hint });
  }

  failed(error: ToolError): JobEnd {
    const end = { exit_code: null, signal: null, timed_out: false, duration_ms: this.#duration() };
    return this.#settle(
      this.#stoppedBy === undefined
        ? { ...end, failure: error }
        : { ...end, cancelled: this.#stoppedBy, hint: error.details.hint },
    );
  }

  /** Resolves once there is output to read or the job has ended, and when the signal is aborted. */
  async changed(signal: AbortSignal): Promise<void> {
    while (!this.end && !this.#ready() && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        signal.addEventListener('abort', () => this.#wake(), { once: true });
      });
    }
  }

  /**
   * What is new since the last time.
   * @throws ToolError with the new output in its facts, where nobody knows how the job ended
   */
  read(mostBytes: number): JobReading {
    const { end } = this;
    const stdout = this.#logs.stdout.take(mostBytes, end !== undefined);
    const stderr = this.#logs.stderr.take(mostBytes, end !== undefined);
    const left = stdout.left + stderr.left;
    const more =
      left > 0 && (end || this.#ready()) ? `${left} bytes more wait: read the job again.` : undefined;
    const about = end?.failure?.details.hint ?? end?.hint;
    const hint = [about, more].filter((sentence) => sentence !== undefined).join(' ');
    if (end?.failure) {
      const { code, message, details } = end.failure;
      const facts = { job: this.id, running: false, stdout: stdout.text, stderr: stderr.text };
      throw new ToolError(code, message, { ...details, hint, facts });
    }
    return {
      ...this.facts,
      job: this.id,
      running: end === undefined,
      exit_code: end?.exit_code ?? null,
      signal: end?.signal ?? null,
      stdout: stdout.text,
      stderr: stderr.text,
      stdout_truncated: stdout.lost > 0,
      stderr_truncated: stderr.lost > 0,
      duration_ms: end?.duration_ms ?? this.#duration(),
      timed_out: end?.timed_out ?? false,
      dry_run: false,
      ...(end?.cancelled !== undefined && { reason: end.cancelled }),
      ...(hint !== '' && { hint }),
    };
  }

  summary(): JobSummary {
    const { device, user, command } = this.facts;
    return {
      id: this.id,
      device,
      user,
      command: clipped(command, 200),
      started_at: this.#startedAt.toISOString(),
      ended_at: this.#endedAt?.toISOString() ?? null,
      exit_code: this.end?.exit_code ?? null,
      signal: this.end?.signal ?? null,
      timed_out: this.end?.timed_out ?? false,
      cancelled: this.end?.cancelled !== undefined,
    };
  }

  #settle(end: JobEnd): JobEnd {
    this.end = end;
    this.#endedAt = new Date();
    this.#wake();
    this.#tellEnd();
    return end;
  }

  #duration(): number {
    return Math.round(performance.now() - this.#started);
  }

  #ready(): boolean {
    return this.#logs.stdout.ready(false) || this.#logs.stderr.ready(false);
  }

  #wake(): void {
    for (const look of this.#waiting.splice(0)) look();
  }
}

function clipped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
