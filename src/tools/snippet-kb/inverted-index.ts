import SearchableMap from 'minisearch/SearchableMap';

/** How often a word counts that stands in a document's first field, in its second, … */
const BOOSTS = [4, 3, 2, 1];
/** BM25+ with the usual constants: how soon more of a word adds nothing, what length costs, what a word is worth at least. */
const K = 1.2;
const B = 0.7;
const D = 0.5;
/** What a longer or a misspelt word is worth beside the word itself, before what separates them is taken off. */
const PREFIX_WEIGHT = 0.375;
const FUZZY_WEIGHT = 0.45;
const SHORTEST_PREFIX = 3;
const SHORTEST_FUZZY = 5;
/** Letters that may be wrong, by letters. */
const FUZZINESS = 0.2;
const MOST_WRONG = 6;
/** A word's counts in all fields of a document are one number of 31 bits, which costs an array eight bytes. */
const COUNT_BITS = 7;
const MOST_COUNTED = 2 ** COUNT_BITS - 1;

export interface Matching {
  /** Whether a document must have all words, or any of them. */
  all: boolean;
  /** Whether a word may be misspelt. */
  fuzzy: boolean;
}

export interface Ranked {
  /** How many documents match. */
  total: number;
  /** The best of them, best first, with those of their words that matched. */
  hits: { id: string; words: string[] }[];
}

/**
 * Which documents have a word, how often and in which field, ranked by BM25+. The dictionary is a library's; what
 * stands behind each word is kept as numbers here, because an object for each match is what makes a common word slow:
 * collecting ten thousand of them takes longer than the search.
 */
export class InvertedIndex {
  /** The number of each word that some document has. */
  readonly #numbers = new SearchableMap<number>();
  readonly #words: string[] = [];
  /** By the word's number: a document's slot and the word's counts there, alternately. */
  readonly #postings: number[][] = [];
  readonly #freeNumbers: number[] = [];

  readonly #slots = new Map<string, number>();
  readonly #ids: string[] = [];
  /** By slot: the numbers of the document's words. */
  readonly #wordsOf: Uint32Array[] = [];
  readonly #freeSlots: number[] = [];
  /** By field and slot: how many words it has; and how many all documents have there together. */
  readonly #lengths: number[][] = BOOSTS.map(() => []);
  readonly #totals = BOOSTS.map(() => 0);

  /**
   * Adds a document or replaces it.
   * @param fields the words of each field: title, tags, names, text
   */
  put(id: string, fields: readonly (readonly string[])[]): void {
    this.remove(id);
    const slot = this.#freeSlots.pop() ?? this.#ids.length;
    this.#slots.set(id, slot);
    this.#ids[slot] = id;
    const counts = new Map<string, number>();
    for (const [field, words] of fields.entries()) {
      for (const word of words) counts.set(word, counted(counts.get(word) ?? 0, field));
      this.#lengths[field]![slot] = words.length;
      this.#totals[field]! += words.length;
    }
    const numbers = new Uint32Array(counts.size);
    let at = 0;
    for (const [word, count] of counts) {
      const number = this.#numberOf(word);
      this.#postings[number]!.push(slot, count);
      numbers[at++] = number;
    }
    this.#wordsOf[slot] = numbers;
  }

  #numberOf(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    const number = this.#freeNumbers.pop() ?? this.#words.length;
    this.#numbers.set(word, number);
    this.#words[number] = word;
    this.#postings[number] = [];
    return number;
  }

  remove(id: string): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    for (const number of this.#wordsOf[slot]!) {
      const posting = this.#postings[number]!;
      let at = 0;
      while (posting[at] !== slot) at += 2;
      const count = posting.pop()!;
      const last = posting.pop()!;
      if (at < posting.length) [posting[at], posting[at + 1]] = [last, count];
      if (posting.length > 0) continue;
      this.#numbers.delete(this.#words[number]!);
      this.#freeNumbers.push(number);
    }
    for (const [field, lengths] of this.#lengths.entries()) this.#totals[field]! -= lengths[slot]!;
    this.#wordsOf[slot] = new Uint32Array();
    this.#slots.delete(id);
    this.#freeSlots.push(slot);
  }

  /**
   * @param words without repetitions
   * @param accept whether a document is looked for at all
   * @param limit how many hits are told at most
   */
  search(
    words: readonly string[],
    { all, fuzzy }: Matching,
    accept: (id: string) => boolean,
    limit: number,
  ): Ranked {
    const scores = new Float64Array(this.#ids.length);
    const matched = new Uint32Array(this.#ids.length);
    /** Slots with any of the words; `last` keeps a slot from counting twice for one word. */
    const touched: number[] = [];
    const last = new Uint32Array(this.#ids.length);
    const alike = new Set<number>();
    for (const [place, word] of words.entries()) {
      for (const [number, weight] of this.#alike(word, fuzzy)) {
        alike.add(number);
        this.#score(number, weight, scores, (slot) => {
          if (last[slot] === place + 1) return;
          last[slot] = place + 1;
          if (matched[slot] === 0) touched.push(slot);
          matched[slot]! += 1;
        });
      }
    }
    const wanted = all ? words.length : 1;
    const found = touched.filter((slot) => matched[slot]! >= wanted && accept(this.#ids[slot]!));
    // A document with more of the words is a better one, whatever they are worth each.
    for (const slot of found) scores[slot]! *= matched[slot]!;
    return {
      total: found.length,
      hits: best(found, scores, limit).map((slot) => ({
        id: this.#ids[slot]!,
        words: Array.from(this.#wordsOf[slot]!)
          .filter((number) => alike.has(number))
          .map((number) => this.#words[number]!),
      })),
    };
  }

  /** Numbers of the words that are taken for this one, each once, with what they are worth beside it. */
  *#alike(word: string, fuzzy: boolean): Iterable<[number: number, weight: number]> {
    const itself = this.#numbers.get(word);
    if (itself !== undefined) yield [itself, 1];
    const prefix = word.length >= SHORTEST_PREFIX;
    if (prefix) {
      for (const [longer, number] of this.#numbers.atPrefix(word)) {
        const { length } = longer;
        const more = length - word.length;
        if (more > 0) yield [number, (PREFIX_WEIGHT * length) / (length + 0.3 * more)];
      }
    }
    if (!fuzzy || word.length < SHORTEST_FUZZY) return;
    const wrong = Math.min(MOST_WRONG, Math.round(word.length * FUZZINESS));
    for (const [other, [number, distance]] of this.#numbers.fuzzyGet(word, wrong)) {
      if (distance === 0 || (prefix && other.startsWith(word))) continue;
      yield [number, (FUZZY_WEIGHT * other.length) / (other.length + distance)];
    }
  }

  #score(number: number, weight: number, scores: Float64Array, touch: (slot: number) => void): void {
    const posting = this.#postings[number]!;
    const having = posting.length / 2;
    const documents = this.#slots.size;
    const rarity = weight * Math.log(1 + (documents - having + 0.5) / (having + 0.5));
    for (let at = 0; at < posting.length; at += 2) {
      const slot = posting[at]!;
      let worth = 0;
      for (let field = 0, counts = posting[at + 1]!; counts > 0; field += 1, counts >>>= COUNT_BITS) {
        const count = counts & MOST_COUNTED;
        if (count === 0) continue;
        const length = (this.#lengths[field]![slot]! * documents) / this.#totals[field]!;
        worth += BOOSTS[field]! * (D + (count * (K + 1)) / (count + K * (1 - B + B * length)));
      }
      scores[slot]! += rarity * worth;
      touch(slot);
    }
  }
}

/** Counts beyond the most are as good as the most: BM25 hardly tells them apart. */
function counted(counts: number, field: number): number {
  const shift = field * COUNT_BITS;
  return ((counts >>> shift) & MOST_COUNTED) === MOST_COUNTED ? counts : counts + 2 ** shift;
}

/** The slots with the highest scores, highest first; among equals the first slot. */
function best(slots: readonly number[], scores: Float64Array, limit: number): number[] {
  const before = (a: number, b: number) => scores[b]! - scores[a]! || a - b;
  const kept: number[] = [];
  for (const slot of slots) {
    if (kept.length >= limit && before(slot, kept.at(-1)!) > 0) continue;
    let at = kept.length;
    while (at > 0 && before(slot, kept[at - 1]!) < 0) at -= 1;
    kept.splice(at, 0, slot);
    if (kept.length > limit) kept.pop();
  }
  return kept;
}
