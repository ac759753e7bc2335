import { randomUUID } from 'node:crypto';
import { mkdir, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

import { messageOf, systemCodeOf } from '../core/errors.ts';
import { type ChainKey, type Position, seal } from './chain.ts';
import { nextRotatedFile, reading, surplusFiles, syncDirectory } from './files.ts';
import type { AuditRecord } from './record.ts';
import { recover, type Recovered, segmentOf } from './recover.ts';
import { appendTo, disturbance, endLine, openSegment, type Segment } from './segment.ts';

export interface WriterOptions {
  path: string;
  key: ChainKey;
  /** `key` and those of earlier secrets, by id. */
  keys: ReadonlyMap<string, ChainKey>;
  /** A file is rotated before it grows beyond this many bytes. */
  maxBytes: number;
  /** Rotated files that are kept; 0 for all. */
  keepFiles: number;
  redact: (text: string) => string;
}

/** What `seq` and `mac` add to a line at most. */
const SEALING_BYTES = 96;

/**
 * Seals records and writes them to the log's files, for one caller at a time. What fails leaves the log as it was
 * before, so that the next call can go on.
 */
export class Writer {
  readonly #options: WriterOptions;
  #segment: Segment | undefined;
  #position: Position;
  #durable: Position;
  #oldest: number;
  /** What the log has to say of itself; goes out before the next records. */
  #notes: Partial<AuditRecord>[] = [];
  /** Why the next line has to be a segment's header. */
  #header: { message: string; unchained?: number } | undefined;
  /** Rotated files to remove once a header says that they are gone. */
  #surplus: string[] = [];
  /** A failed write left something that could not be removed yet. */
  #dirty = false;
  /** The directory holds a name that is not on disk yet. */
  #newName = true;
  #alarm: string | undefined;
  #rotationFault: string | undefined;

  private constructor(options: WriterOptions, segment: Segment, recovered: Recovered) {
    this.#options = options;
    this.#segment = segment;
    this.#position = recovered.position;
    this.#durable = recovered.position;
    this.#oldest = recovered.oldest;
  }

  /** @throws the system's error where the file cannot be opened, read or mended */
  static async open(options: WriterOptions): Promise<Writer> {
    await mkdir(dirname(options.path), { recursive: true });
    const segment = await openSegment(options.path);
    try {
      const recovered = await recover(options.path, segment.file, options.keys);
      segment.size = recovered.size;
      // What an earlier process left in the kernel's hands is on disk from here on, and may be called durable.
      await segment.file.datasync();
      const writer = new Writer(options, segment, recovered);
      await writer.#takeUp(recovered);
      return writer;
    } catch (error) {
      await segment.file.close();
      throw error;
    }
  }

  /** What somebody did to the log (until a restart), or why files cannot be rotated; for health checks. */
  get trouble(): string | undefined {
    return this.#alarm ?? this.#rotationFault;
  }

  /** The last record known to be on disk. */
  get durable(): Position {
    return this.#durable;
  }

  async #takeUp({ key, size, unchained, cut, missing, head, position }: Recovered): Promise<void> {
    if (size === 0) {
      this.#header = { message: 'a new file' };
    } else if (unchained > 0) {
      this.#header = { message: 'the chain begins behind what was in the file already', unchained };
    } else if (key !== this.#options.key.id) {
      const message =
        key === undefined ? 'the file has no header' : 'MCP_SECRET, and so the key, has changed';
      await this.#rotate(message);
      // Where it could not be moved away, the header goes into the file itself.
      this.#header ??= { message };
    }
    if (cut) this.#notes.push({ message: 'an unfinished line at the end was cut off', cut });
    if (missing) {
      const { from, to } = missing;
      this.#raise(`records ${from} to ${to} had been written, and were gone or others at the start`);
    }
    if (head === 'forged') this.#raise('the head file was changed by somebody else');
    if (head === 'missing' && position.seq > 0) this.#raise('the head file was gone at the start');
  }

  #raise(message: string): void {
    this.#alarm ??= message;
    this.#notes.push({ message });
  }

  /**
   * Appends records by one write, with one flush for all of them where `durable`. All are in the log then, or, when
   * this throws, none.
   * @param texts records as JSON, redacted
   * @returns the lines written, those of the log's own notes among them
   */
  async write(texts: readonly string[], durable: boolean): Promise<Buffer> {
    const segment = await this.#ready(texts);
    const own = this.#ownTexts();
    const lines: string[] = [];
    let position = this.#position;
    for (const text of [...own, ...texts]) {
      const sealed = seal(this.#options.key, position, text);
      lines.push(sealed.line);
      ({ position } = sealed);
    }
    const bytes = Buffer.from(lines.join(''));
    const flush = durable || own.length > 0;
    try {
      await appendTo(segment, bytes);
      if (flush) await this.#flush(segment);
    } catch (error) {
      this.#dirty = true;
      await this.#undo(segment).catch(() => {});
      throw error;
    }
    segment.size += bytes.length;
    this.#position = position;
    if (flush) this.#durable = position;
    if (own.length > 0) {
      this.#notes = [];
      this.#header = undefined;
      await this.#removeSurplus();
    }
    return bytes;
  }

  async #flush({ file }: Segment): Promise<void> {
    try {
      await file.datasync();
      if (this.#newName) await syncDirectory(this.#options.path);
      this.#newName = false;
    } catch (error) {
      // Never retried: the kernel may have dropped the pages, and would then report success for data that is gone.
      const why = systemCodeOf(error) ?? messageOf(error);
      const message = `a flush to disk failed (${why}): records after ${this.#durable.seq} may not outlive a power cut`;
      if (!this.#notes.some((note) => note.message === message)) this.#notes.push({ message });
      throw error;
    }
  }

  #ownTexts(): string[] {
    const stamp = () => ({ event: 'note' as const, time: new Date().toISOString(), id: randomUUID() });
    const texts = this.#notes.map((note) =>
      this.#options.redact(JSON.stringify({ ...stamp(), ...note } satisfies AuditRecord)),
    );
    if (this.#header === undefined) return texts;
    const { message, unchained } = this.#header;
    const segment = {
      key: this.#options.key.id,
      previous: this.#position.mac,
      oldest: this.#oldest,
      ...(unchained !== undefined && { unchained }),
    };
    return [JSON.stringify({ ...stamp(), message, segment } satisfies AuditRecord), ...texts];
  }

  /** The file to write to: the one written last, as it was left, with room in it. */
  async #ready(texts: readonly string[]): Promise<Segment> {
    if (this.#segment && this.#dirty) await this.#undo(this.#segment);
    if (this.#segment) await this.#lookAfter(this.#segment);
    const size = this.#segment?.size ?? 0;
    const more = texts.reduce((sum, text) => sum + text.length + SEALING_BYTES, 0);
    if (size > 0 && size + more > this.#options.maxBytes) await this.#rotate('the file before was full');
    return (this.#segment ??= await this.#reopen());
  }

  async #undo({ file, size }: Segment): Promise<void> {
    await file.truncate(size);
    this.#dirty = false;
  }

  /** Records must never go into a file that has lost its name, nor follow what somebody else wrote unsaid. */
  async #lookAfter(segment: Segment): Promise<void> {
    const seen = disturbance(segment);
    if (seen === undefined) return;
    this.#alarm = `${seen.what} after record ${this.#position.seq}`;
    this.#header = { message: this.#alarm };
    if (seen.sameFile) {
      segment.size = seen.sameFile.size;
      await endLine(segment);
    } else {
      this.#segment = undefined;
      await segment.file.close();
    }
  }

  async #reopen(): Promise<Segment> {
    const segment = await openSegment(this.#options.path);
    this.#newName = true;
    await endLine(segment);
    this.#header = {
      message: this.#header?.message ?? 'a new file',
      ...(segment.size > 0 && { unchained: segment.size }),
    };
    return segment;
  }

  /**
   * Moves the file away. A crash between the steps leaves no current file, or an empty one, and the next start goes
   * on from the rotated one. Where the file cannot be moved, it is written to beyond its size.
   */
  async #rotate(message: string): Promise<void> {
    const segment = this.#segment;
    if (segment === undefined) return;
    const { path, keepFiles } = this.#options;
    try {
      await this.#flush(segment);
      this.#durable = this.#position;
      await rename(path, nextRotatedFile(path));
    } catch (error) {
      this.#rotationFault = `the file cannot be rotated (${systemCodeOf(error) ?? messageOf(error)})`;
      return;
    }
    this.#rotationFault = undefined;
    this.#segment = undefined;
    this.#header = { message: this.#header ? `${this.#header.message}; ${message}` : message };
    await segment.file.close();
    const { surplus, oldest } = surplusFiles(path, keepFiles);
    if (oldest === undefined || surplus.length === 0) return;
    this.#surplus = surplus;
    this.#oldest = (await reading(oldest, segmentOf).catch(() => undefined))?.seq ?? this.#oldest;
  }

  async #removeSurplus(): Promise<void> {
    for (const file of this.#surplus) {
      await unlink(file).catch((error: unknown) => {
        this.#rotationFault = `${file} cannot be removed (${systemCodeOf(error) ?? messageOf(error)})`;
      });
    }
    this.#surplus = [];
  }

  /** Flushes and closes. @throws the system's error of the flush */
  async close(): Promise<void> {
    const segment = this.#segment;
    this.#segment = undefined;
    if (segment === undefined) return;
    try {
      await this.#flush(segment);
      this.#durable = this.#position;
    } finally {
      await segment.file.close();
    }
  }
}
