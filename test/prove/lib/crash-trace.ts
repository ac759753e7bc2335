/** What one line of a trace tells: a system call's beginning, its end, or both. */
interface Traced {
  pid: string;
  call: string;
  /** Its arguments and result, as strace writes them; of a call cut in two, each line its part. */
  text: string;
  part: 'whole' | 'begun' | 'ended';
}

/** Of `strace -f -y -s 4096`. */
export const STRACE = [
  'strace',
  '-f',
  '-y',
  '-s',
  '4096',
  '-e',
  'trace=write,writev,pwrite64,pwritev,sendto,sendmsg,connect,fsync,fdatasync',
];

function parse(trace: string): Traced[] {
  return trace.split('\n').flatMap((line): Traced[] => {
    const [, pid = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const [, resumed] = /^<\.\.\. (\w+) resumed>/.exec(rest) ?? [];
    if (resumed !== undefined) return [{ pid, call: resumed, text: rest, part: 'ended' }];
    const [, call] = /^(\w+)\(/.exec(rest) ?? [];
    if (call === undefined) return [];
    return [{ pid, call, text: rest, part: rest.endsWith('<unfinished ...>') ? 'begun' : 'whole' }];
  });
}

/** A system call, by the numbers of the lines in which it begins and ends. */
interface Span {
  call: string;
  text: string;
  begins: number;
  ends: number;
}

function spans(lines: readonly Traced[]): Span[] {
  const open = new Map<string, Span>();
  const found: Span[] = [];
  for (const [at, { pid, call, text, part }] of lines.entries()) {
    const span = part === 'ended' ? open.get(pid) : { call, text, begins: at, ends: Infinity };
    if (!span) continue;
    if (part === 'begun') open.set(pid, span);
    else {
      open.delete(pid);
      span.ends = at;
      if (part === 'ended') span.text += text;
    }
    if (part !== 'ended') found.push(span);
  }
  return found;
}

const FLUSHES = ['fsync', 'fdatasync'];

/**
 * Whether each mark's intent was written to the log and flushed before anything with the mark left by a socket, and
 * before `port` was connected to.
 * @param trace what strace wrote
 * @returns one text for each that was not, and how many departures were looked at
 */
export function orderOf(trace: string, log: string, marks: readonly string[], port: number) {
  const all = spans(parse(trace));
  const ofLog = (span: Span) => span.text.includes(`<${log}>`);
  const flushes = all.filter(
    (span) => FLUSHES.includes(span.call) && ofLog(span) && span.text.endsWith(' = 0'),
  );
  const departs = all.filter((span) => !FLUSHES.includes(span.call) && !span.text.includes(`</`));
  /** The line in which the mark's intent is on disk. */
  const flushedAt = (mark: string): number => {
    // The record's quotes are escaped in a trace.
    const intent = all.find((span) => ofLog(span) && hasMark(span, mark) && span.text.includes('intent'));
    return flushes.find(({ begins }) => intent && begins > intent.ends)?.ends ?? Infinity;
  };
  const failures: string[] = [];
  let looked = 0;
  for (const mark of marks) {
    const durable = flushedAt(mark);
    for (const span of departs.filter((span) => hasMark(span, mark))) {
      looked += 1;
      if (!(durable < span.begins)) failures.push(`${mark}: ${span.call} to a socket before the flush`);
    }
  }
  const connects = departs.filter(({ call, text }) => call === 'connect' && text.includes(`htons(${port})`));
  const firstIntent = Math.min(...marks.map(flushedAt));
  for (const { begins } of connects) {
    looked += 1;
    if (!(firstIntent < begins)) failures.push('connected to the device before any intent was flushed');
  }
  return { failures, looked, connects: connects.length, flushes: flushes.length };
}

const hasMark = ({ text }: Span, mark: string): boolean => new RegExp(`${mark}(?!\\w)`).test(text);
