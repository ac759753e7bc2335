import { type ChainKey, macOf, parseSealed, type Position, type SealedLine } from './chain.ts';
import { type FileLine, recordOf } from './lines.ts';
import type { AuditSegment } from './record.ts';

/** What is wrong. `torn`: the last line has no end. `truncated`: the end is missing, which only the head file shows. */
export type FaultKind =
  'changed' | 'dropped' | 'reordered' | 'duplicated' | 'inserted' | 'torn' | 'truncated';

export interface Fault {
  kind: FaultKind;
  file: string;
  /** From 1. */
  line: number;
  detail: string;
}

export interface Counts {
  /** Lines that have the form of a record. */
  records: number;
  verified: number;
  bad: number;
  /** Records made with a key that is not among those given, by the key's id. */
  unverifiable: Map<string, number>;
}

export type NumberedLine = FileLine & { file: string; number: number };

/**
 * Checks a log line by line in constant memory. After a bad line the chain may go on from the last good record or
 * from what the bad line says of itself, so that one change is one fault and not one for every line after it.
 */
export class ChainChecker {
  readonly counts: Counts = { records: 0, verified: 0, bad: 0, unverifiable: new Map() };
  readonly #keys: ReadonlyMap<string, ChainKey>;
  readonly #head: Position | undefined;
  #key: ChainKey | undefined;
  /** The id of the segment's key where it is not among those given. */
  #unknownKey: string | undefined;
  #good: Position | undefined;
  #declared: Position | undefined;
  #first: Fault | undefined;
  /** The record that the first fault was found at, and the ones it says are missing. */
  #firstAt: SealedLine | undefined;
  #missing: { from: number; to: number } | undefined;
  /** Lines at the beginning of a file that are no records; a header may have declared them. */
  #prefix: { line: NumberedLine; count: number } | undefined;
  #start: { seq: number; line: NumberedLine } | undefined;
  #earlierThanStart = false;
  #oldest = 1;
  #last: NumberedLine | undefined;
  #highest = 0;
  #headDiffers: NumberedLine | undefined;

  /** @param head where the log has come to, by its head file */
  constructor(keys: ReadonlyMap<string, ChainKey>, head?: Position) {
    this.#keys = keys;
    this.#head = head;
  }

  take(line: NumberedLine): void {
    this.#last = line;
    if (line.number === 1) this.#endPrefix(undefined);
    const sealed = parseSealed(line.text);
    if (sealed) this.#takeRecord(line, sealed);
    else if (line.complete) this.#takeOther(line);
    if (!line.complete) this.#fault('torn', line, 'the line has no end');
  }

  /** @param whole whether the lines were those of a whole log: then its beginning and its end are checked too */
  finish(whole: boolean): Fault | undefined {
    this.#endPrefix(undefined);
    const start = this.#start;
    if (whole && start && start.seq > this.#oldest) {
      const kind = this.#earlierThanStart ? 'reordered' : 'dropped';
      const range = rangeOf(this.#oldest, start.seq - 1);
      const detail = kind === 'dropped' ? `${range} missing before this line` : 'the files are out of order';
      this.counts.bad += 1;
      this.#first = { kind, file: start.line.file, line: start.line.number, detail };
    }
    const last = this.#last;
    if (this.#head && last && this.#head.seq > this.#highest) {
      this.#fault('truncated', last, `${rangeOf(this.#highest + 1, this.#head.seq)} missing after this line`);
    }
    if (this.#headDiffers && this.counts.bad === 0) {
      this.#fault('changed', this.#headDiffers, 'not the record that the head file names');
    }
    return this.#first;
  }

  #takeOther(line: NumberedLine): void {
    if (line.number === 1) this.#prefix = { line, count: 0 };
    if (this.#prefix) this.#prefix.count += 1;
    else this.#fault('changed', line, 'not a record of the log');
  }

  #endPrefix(declared: number | undefined): void {
    if (this.#prefix && declared === undefined) {
      const { line, count } = this.#prefix;
      this.#fault(
        'changed',
        line,
        `${count === 1 ? 'not a record' : `${count} lines that are no records`} of the log`,
      );
    }
    this.#prefix = undefined;
  }

  #takeRecord(line: NumberedLine, sealed: SealedLine): void {
    this.counts.records += 1;
    const segment = segmentOf(line, sealed);
    this.#endPrefix(segment?.unchained === line.start ? line.start : undefined);
    this.#start ??= { seq: sealed.seq, line };
    if (sealed.seq < this.#start.seq) this.#earlierThanStart = true;
    if (sealed.seq === this.#head?.seq && sealed.mac !== this.#head.mac) this.#headDiffers ??= line;

    const from = this.#predecessor(sealed, segment);
    if (from) this.#accept(sealed, segment, from);
    else this.#misplaced(line, sealed);
    this.#highest = Math.max(this.#highest, sealed.seq);
  }

  /** The record that this one demonstrably follows. */
  #predecessor(sealed: SealedLine, segment: AuditSegment | undefined): Position | undefined {
    const named = segment && { seq: sealed.seq - 1, mac: segment.previous };
    if (segment) {
      const key = this.#keys.get(segment.key);
      this.#unknownKey = key ? undefined : segment.key;
      this.#key = key ?? this.#key;
    }
    const known = [this.#good, this.#declared].filter((position) => position !== undefined);
    const possible = known.length === 0 && named ? [named] : known;
    return possible.find(({ seq, mac }) => {
      if (seq + 1 !== sealed.seq) return false;
      // Without the key it can still be seen whether the segment is tied to the one before.
      if (this.#unknownKey !== undefined) return named === undefined || named.mac === mac;
      const keys = this.#key ? [this.#key] : [...this.#keys.values()];
      return keys.some((key) => macOf(key, mac, sealed.body, 'latin1') === sealed.mac);
    });
  }

  #accept(sealed: SealedLine, segment: AuditSegment | undefined, from: Position): void {
    const id = this.#unknownKey;
    if (id === undefined) this.counts.verified += 1;
    else this.counts.unverifiable.set(id, (this.counts.unverifiable.get(id) ?? 0) + 1);
    if (segment) this.#oldest = segment.oldest;
    this.#reconsider(sealed);
    this.#good = { seq: sealed.seq, mac: sealed.mac };
    const ahead = this.#declared !== undefined && from !== this.#declared && this.#declared.seq > sealed.seq;
    if (!ahead) this.#declared = undefined;
  }

  #misplaced(line: NumberedLine, sealed: SealedLine): void {
    const reference = this.#declared ?? this.#good;
    if (reference === undefined) {
      const headless = segmentOf(line, sealed) === undefined;
      this.#fault(
        headless ? 'dropped' : 'changed',
        line,
        headless ? 'the header that belongs before this line is missing' : 'not what was written',
        sealed,
      );
      this.#declared = { seq: sealed.seq, mac: sealed.mac };
      return;
    }
    const expected = reference.seq + 1;
    if (sealed.seq < expected) {
      const moved = this.#isMissing(sealed.seq) || sealed.seq < (this.#start?.seq ?? 0);
      const kind = moved ? 'reordered' : 'duplicated';
      this.#fault(kind, line, `record ${sealed.seq} after record ${reference.seq}`, sealed);
      this.#reconsider(sealed);
      return;
    }
    if (sealed.seq === expected) {
      this.#fault('changed', line, `record ${sealed.seq} is not what was written`, sealed);
    } else {
      if (this.#first === undefined) this.#missing = { from: expected, to: sealed.seq - 1 };
      const detail = `${rangeOf(expected, sealed.seq - 1)} missing before this line`;
      this.#fault('dropped', line, detail, sealed);
    }
    this.#declared = { seq: sealed.seq, mac: sealed.mac };
  }

  /** Whether a record that comes later shows the first fault to be another than it seemed. */
  #reconsider({ seq, mac, body }: SealedLine): void {
    const first = this.#first;
    if (first === undefined) return;
    if (first.kind === 'dropped' && this.#isMissing(seq)) {
      first.kind = 'reordered';
      first.detail = `record ${this.#firstAt?.seq} before record ${seq}`;
    } else if (seq === this.#firstAt?.seq && ['changed', 'dropped', 'reordered'].includes(first.kind)) {
      first.kind = mac === this.#firstAt.mac && body === this.#firstAt.body ? 'duplicated' : 'inserted';
      first.detail = `record ${seq} follows in its own place`;
    }
  }

  #isMissing(seq: number): boolean {
    return this.#missing !== undefined && seq >= this.#missing.from && seq <= this.#missing.to;
  }

  #fault(kind: FaultKind, line: NumberedLine, detail: string, at?: SealedLine): void {
    this.counts.bad += 1;
    if (this.#first) return;
    this.#first = { kind, file: line.file, line: line.number, detail };
    this.#firstAt = at;
  }
}

function segmentOf(line: NumberedLine, sealed: SealedLine): AuditSegment | undefined {
  if (!sealed.body.includes('"segment":{')) return undefined;
  const segment = recordOf(line)?.['segment'] as Partial<AuditSegment> | undefined;
  const whole = typeof segment?.key === 'string' && typeof segment.previous === 'string';
  return whole ? (segment as AuditSegment) : undefined;
}

function rangeOf(from: number, to: number): string {
  return from === to ? `record ${from} is` : `records ${from} to ${to} are`;
}
