/** A log's files by name, in the order of the log, its head file the last. */
export type LogFiles = ReadonlyMap<string, Buffer>;

/** A whole number from 0 up to, and without, `below`. */
export type Draw = (below: number) => number;

/** Ways to tamper with a log, each with one draw of where; what comes out differs from what went in. */
export type Tampering = (files: LogFiles, draw: Draw, foreign: LogFiles) => LogFiles;

const HEAD = '.head';
const ownNames = (files: LogFiles) => [...files.keys()].filter((name) => !name.endsWith(HEAD));
const drawName = (files: LogFiles, draw: Draw) => {
  const names = ownNames(files);
  return names[draw(names.length)] as string;
};
const bytesOf = (files: LogFiles, name: string) => files.get(name) as Buffer;
const replaced = (files: LogFiles, name: string, content: Buffer) => new Map(files).set(name, content);

function without(files: LogFiles, name: string): LogFiles {
  const rest = new Map(files);
  rest.delete(name);
  return rest;
}

const linesOf = (content: Buffer) => content.toString('latin1').split('\n').slice(0, -1);
const joined = (lines: readonly string[]) => Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1');

/** Changes one file's lines; `change` gets the lines and draws its own places. */
const edited =
  (change: (lines: string[], draw: Draw, foreign: string[]) => string[]): Tampering =>
  (files, draw, foreign) => {
    const name = drawName(files, draw);
    const others = linesOf(bytesOf(foreign, name));
    return replaced(files, name, joined(change(linesOf(bytesOf(files, name)), draw, others)));
  };

/** A digit or letter of a value is another one: what somebody does who hides what was run. */
function retouched(line: string, draw: Draw): string {
  const places = [...line.matchAll(/[a-z0-9]/g)].map(({ index }) => index);
  const at = places[draw(places.length)] as number;
  const other = line[at] === 'x' ? 'y' : 'x';
  return line.slice(0, at) + other + line.slice(at + 1);
}

export const TAMPERINGS: Readonly<Record<string, Tampering>> = {
  // Logs without a chain are simply edited.
  'a bit flipped': (files, draw) => {
    const name = drawName(files, draw);
    const content = Buffer.from(bytesOf(files, name));
    const at = draw(content.length);
    content[at] = (content[at] as number) ^ (1 << draw(8));
    return replaced(files, name, content);
  },
  'a character of a record changed': edited((lines, draw) => {
    const at = draw(lines.length);
    return lines.with(at, retouched(lines[at] as string, draw));
  }),
  'a record deleted': edited((lines, draw) => lines.toSpliced(draw(lines.length), 1)),
  'a run of records deleted': edited((lines, draw) => lines.toSpliced(draw(lines.length), 2 + draw(8))),
  'two records swapped': edited((lines, draw) => {
    const a = draw(lines.length);
    const b = (a + 1 + draw(lines.length - 1)) % lines.length;
    return lines.with(a, lines[b] as string).with(b, lines[a] as string);
  }),
  'a record moved': edited((lines, draw) => {
    const from = draw(lines.length);
    const to = (from + 1 + draw(lines.length - 1)) % lines.length;
    return lines.toSpliced(from, 1).toSpliced(to, 0, lines[from] as string);
  }),
  'a record duplicated': edited((lines, draw) =>
    lines.toSpliced(draw(lines.length + 1), 0, lines[draw(lines.length)] as string),
  ),
  'a record made up': edited((lines, draw) => {
    const at = draw(lines.length);
    return lines.toSpliced(at, 0, retouched(lines[at] as string, draw));
  }),
  // A chain with an unkeyed hash, or with one key for all logs, takes these for its own.
  'a record put in that another secret made': edited((lines, draw, foreign) => {
    const at = draw(Math.min(lines.length, foreign.length));
    return lines.with(at, foreign[at] as string);
  }),
  'the rest of a file put in that another secret made': edited((lines, draw, foreign) => {
    const at = draw(Math.min(lines.length, foreign.length));
    return [...lines.slice(0, at), ...foreign.slice(at)];
  }),
  'an empty or foreign line put in': edited((lines, draw) =>
    lines.toSpliced(draw(lines.length + 1), 0, ['', '{}', 'x', 'null'][draw(4)] as string),
  ),
  // A chain alone does not know where it ends.
  'a file cut short': (files, draw) => {
    const name = drawName(files, draw);
    const content = bytesOf(files, name);
    return replaced(files, name, content.subarray(0, draw(content.length)));
  },
  'whole records cut off the end': (files, draw) => {
    const name = ownNames(files).at(-1) as string;
    const lines = linesOf(bytesOf(files, name));
    return replaced(files, name, joined(lines.slice(0, draw(lines.length))));
  },
  'a file cut out of the middle': (files, draw) => {
    const name = drawName(files, draw);
    const content = bytesOf(files, name);
    const from = draw(content.length - 1);
    const to = from + 1 + draw(content.length - from);
    return replaced(files, name, Buffer.concat([content.subarray(0, from), content.subarray(to)]));
  },
  'a file removed': (files, draw) => without(files, drawName(files, draw)),
  'two files swapped': (files, draw) => {
    const names = ownNames(files);
    const a = draw(names.length);
    const b = (a + 1 + draw(names.length - 1)) % names.length;
    const [first, second] = [names[a] as string, names[b] as string];
    return replaced(replaced(files, first, bytesOf(files, second)), second, bytesOf(files, first));
  },
  'the head file edited': (files, draw) => {
    const name = [...files.keys()].find((key) => key.endsWith(HEAD)) as string;
    const text = bytesOf(files, name).toString('latin1').trimEnd();
    return replaced(files, name, Buffer.from(`${retouched(text, draw)}\n`, 'latin1'));
  },
  'the head file removed or emptied': (files, draw) => {
    const name = [...files.keys()].find((key) => key.endsWith(HEAD)) as string;
    return draw(2) === 0 ? without(files, name) : replaced(files, name, Buffer.alloc(0));
  },
  'records cut off the end, the head file of another log beside it': (files, draw, foreign) => {
    const head = [...files.keys()].find((key) => key.endsWith(HEAD)) as string;
    const name = ownNames(files).at(-1) as string;
    const lines = linesOf(bytesOf(files, name));
    const shorter = joined(lines.slice(0, draw(lines.length)));
    return replaced(replaced(files, name, shorter), head, bytesOf(foreign, head));
  },
};
