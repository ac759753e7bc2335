/** Which of many texts stand in a text, in one pass over it (Aho–Corasick), however many there are. */
export interface Finder {
  /** The lowest place in the list of a needle that the text holds. */
  first(text: string): number | undefined;
}

const NONE = 0x7fff_ffff;

/** @param needles lists of texts; to find any of a list is to find that list's place. Empty texts are left out */
export function createFinder(needles: readonly (readonly string[])[]): Finder {
  const classes = new Uint16Array(0x1_0000);
  let alphabet = 1;
  let states = 1;
  for (const text of needles.flat()) {
    states += text.length;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (classes[code] === 0) classes[code] = alphabet++;
    }
  }
  const next = new Int32Array(states * alphabet);
  const found = new Int32Array(states).fill(NONE);
  let last = 0;
  for (const [place, texts] of needles.entries()) {
    for (const text of texts) {
      if (text === '') continue;
      let state = 0;
      for (let at = 0; at < text.length; at += 1) {
        const edge = state * alphabet + (classes[text.charCodeAt(at)] ?? 0);
        if (next[edge] === 0) next[edge] = ++last;
        state = next[edge] ?? 0;
      }
      found[state] = Math.min(found[state] ?? NONE, place);
    }
  }
  completed(next, found, alphabet, last + 1);
  return {
    first(text) {
      let state = 0;
      let best = NONE;
      for (let at = 0; at < text.length; at += 1) {
        state = next[state * alphabet + (classes[text.charCodeAt(at)] ?? 0)] ?? 0;
        const here = found[state] ?? NONE;
        if (here < best) best = here;
      }
      return best === NONE ? undefined : best;
    },
  };
}

/** Leads each state on to where the longest end of what was read begins another needle. */
function completed(next: Int32Array, found: Int32Array, alphabet: number, states: number): void {
  const fallback = new Int32Array(states);
  const queue: number[] = [];
  for (let symbol = 0; symbol < alphabet; symbol += 1) if (next[symbol]) queue.push(next[symbol] ?? 0);
  for (let head = 0; head < queue.length; head += 1) {
    const state = queue[head] ?? 0;
    const back = fallback[state] ?? 0;
    found[state] = Math.min(found[state] ?? NONE, found[back] ?? NONE);
    for (let symbol = 0; symbol < alphabet; symbol += 1) {
      const edge = state * alphabet + symbol;
      const other = next[back * alphabet + symbol] ?? 0;
      if (next[edge] === 0) next[edge] = other;
      else {
        fallback[next[edge] ?? 0] = other;
        queue.push(next[edge] ?? 0);
      }
    }
  }
}
