import type { Registers } from './registers.ts';

/** What the gate tells of a call when it is over. */
export interface CallFacts {
  /** The call's id, the same in the audit log. */
  id: string;
  tool: string;
  /** `ok`, `blocked` or `error`. */
  outcome: string;
  errorCode?: string | undefined;
  /** The policy entry that refused the call. */
  rule?: string | undefined;
  seconds: number;
}

export interface Gauge {
  name: string;
  help: string;
  read: () => number | undefined;
}

export interface Metrics {
  call(facts: CallFacts): void;
  /** A number that is read when the metrics are asked for; undefined leaves it out. */
  gauge(name: Gauge['name'], help: Gauge['help'], read: Gauge['read']): void;
  /** The Prometheus text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** Of the Prometheus text format, as its documentation has it. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Counts from the first call on; the library that keeps the counts is loaded with that call or with the first scrape,
 * because a start needs none of it.
 */
export function createMetrics(): Metrics {
  const gauges: Gauge[] = [
    { name: 'resident_memory_bytes', help: 'Memory of the process.', read: () => process.memoryUsage.rss() },
    { name: 'uptime_seconds', help: 'Since the process started.', read: () => process.uptime() },
  ];
  /** Calls that ended while the library was loaded. */
  const early: CallFacts[] = [];
  let registers: Registers | undefined;
  let loading: Promise<Registers> | undefined;

  const load = () =>
    (loading ??= import('./registers.ts').then(({ createRegisters }) => {
      const made = createRegisters(gauges);
      for (const facts of early.splice(0)) made.call(facts);
      return (registers = made);
    }));

  return {
    call(facts) {
      if (registers) {
        registers.call(facts);
      } else {
        early.push(facts);
        void load();
      }
    },
    gauge(name, help, read) {
      gauges.push({ name, help, read });
      registers?.gauge({ name, help, read });
    },
    text: async () => (await load()).text(),
    contentType: CONTENT_TYPE,
  };
}
