import { Counter, Gauge as Registered, Histogram, Registry } from 'prom-client';

import type { CallFacts, Gauge } from './metrics.ts';

/** What keeps the counts and writes them in the Prometheus text format. */
export interface Registers {
  call(facts: CallFacts): void;
  gauge(gauge: Gauge): void;
  text(): Promise<string>;
}

const PREFIX = 'remote_tool_server_';
/** A label with values without bound would make each scrape larger than the last. */
const MOST_RULES = 100;

export function createRegisters(gauges: readonly Gauge[]): Registers {
  const registry = new Registry();
  const registers = [registry];
  const calls = new Counter({
    name: `${PREFIX}calls_total`,
    help: 'Tool calls that ended, by tool, outcome and error code.',
    labelNames: ['tool', 'outcome', 'error_code'],
    registers,
  });
  const refusals = new Counter({
    name: `${PREFIX}refusals_total`,
    help: 'Tool calls that a policy refused, by tool and rule.',
    labelNames: ['tool', 'rule'],
    registers,
  });
  const durations = new Histogram({
    name: `${PREFIX}call_duration_seconds`,
    help: 'How long tool calls took, by tool.',
    labelNames: ['tool'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 3_600],
    registers,
  });
  const rules = new Set<string>();

  function gauge({ name, help, read }: Gauge): void {
    // prom-client registers a gauge by making it; `collect` runs at each scrape.
    void new Registered({
      name: PREFIX + name,
      help,
      registers,
      collect() {
        const value = read();
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  }
  for (const each of gauges) gauge(each);

  return {
    call({ tool, outcome, errorCode = '', rule, seconds }) {
      calls.inc({ tool, outcome, error_code: errorCode });
      durations.observe({ tool }, seconds);
      if (rule !== undefined) refusals.inc({ tool, rule: bounded(rule) });
    },
    gauge,
    text: () => registry.metrics(),
  };

  /** A rule names the path that broke it after a colon; as a label only the rule itself is of use. */
  function bounded(rule: string): string {
    const label = rule.startsWith('outside allowed directories') ? 'outside allowed directories' : rule;
    if (rules.size >= MOST_RULES && !rules.has(label)) return 'other';
    rules.add(label);
    return label;
  }
}
