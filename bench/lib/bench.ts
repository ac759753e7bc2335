/** One bench: a module `bench/NAME.ts` that exports `bench`, run by `npm run bench -- NAME`. */
export interface Bench {
  /** The file's name without `.ts`. */
  name: string;
  /** A sentence on what is measured, the heading of its chart. */
  title: string;
  /** Whether it needs the other servers of `bench/peers` to be installed. */
  peers?: boolean;
  /** @param args what follows the name on the command line */
  run(report: Report, args: readonly string[]): Promise<void>;
}

/** One bar: the median of its samples, with the lowest and the highest of them. */
export interface Figure {
  label: string;
  unit: string;
  median: number;
  low: number;
  high: number;
}

/** Figures that stand beside each other in one chart. */
export interface Series {
  title: string;
  better: 'higher' | 'lower';
  figures: Figure[];
}

export interface Target {
  text: string;
  value: number;
  /** `×` for a ratio within the run. */
  unit: string;
  bound: number;
  comparison: 'at least' | 'at most';
  met: boolean;
}

/** What a bench leaves behind, as in `bench/results/NAME.json`. */
export interface Result {
  name: string;
  title: string;
  machine: string;
  series: Series[];
  targets: Target[];
  notes: string[];
}

/** Collects what a bench found. */
export interface Report {
  /**
   * Adds a bar to the series of that title, which the first call makes.
   * @param samples one number a round; at least one
   * @returns the median, for ratios
   */
  figure(series: string, label: string, unit: string, samples: readonly number[]): number;
  /** Says that in this series less is better; more is, unless said. */
  lowerIsBetter(series: string): void;
  /** Compares a figure of this run, mostly a ratio (unit `×`), with its bound. */
  target(text: string, value: number, comparison: Target['comparison'], bound: number, unit?: string): void;
  /** A sentence that belongs beside the figures. Must not differ from run to run. */
  note(text: string): void;
  /** Progress for whoever waits; not kept. */
  say(text: string): void;
}

/** Four significant digits: more would be noise, and each run's difference. */
export const rounded = (value: number): number => Number(value.toPrecision(4));

export function figureOf(label: string, unit: string, samples: readonly number[]): Figure {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (index: number) => rounded(sorted[index] ?? Number.NaN);
  return { label, unit, median: rounded(median(sorted)), low: at(0), high: at(sorted.length - 1) };
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** The value below which a share of the samples lies. @throws when there is no sample */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new Error('no samples');
  return value;
}

/** @param print takes lines for the terminal */
export function createReport(
  bench: Bench,
  machine: string,
  print: (line: string) => void,
): { report: Report; result: Result } {
  const result: Result = {
    name: bench.name,
    title: bench.title,
    machine,
    series: [],
    targets: [],
    notes: [],
  };
  const seriesOf = (title: string): Series => {
    let series = result.series.find((each) => each.title === title);
    if (!series) result.series.push((series = { title, better: 'higher', figures: [] }));
    return series;
  };
  const report: Report = {
    figure(series, label, unit, samples) {
      const figure = figureOf(label, unit, samples);
      seriesOf(series).figures.push(figure);
      return figure.median;
    },
    lowerIsBetter(series) {
      seriesOf(series).better = 'lower';
    },
    target(text, value, comparison, bound, unit = '×') {
      const met = comparison === 'at least' ? value >= bound : value <= bound;
      result.targets.push({ text, value: rounded(value), unit, bound, comparison, met });
    },
    note(text) {
      result.notes.push(text);
    },
    say: (text) => print(`  ${text}`),
  };
  return { report, result };
}
