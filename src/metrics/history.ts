import type { CallFacts, Metrics } from './metrics.ts';

/** What happened to one tool in one minute, or in a span of them. */
export interface CallSpan {
  calls: number;
  ok: number;
  blocked: number;
  errors: number;
  /** Milliseconds, within a tenth of the true value; null where there was no call. */
  p50: number | null;
  p95: number | null;
}

export interface ToolHistory {
  tool: string;
  /** The last `MINUTES` minutes, the oldest first; the last one is under way. */
  minutes: CallSpan[];
  /** All of them together. */
  total: CallSpan;
}

export interface CallHistory {
  add(facts: Omit<CallFacts, 'id'>): void;
  /** Of the tools asked for, and of others that were called, in that order. */
  read(tools: readonly string[]): ToolHistory[];
}

export const MINUTES = 60;
const MINUTE_MS = 60_000;
/** Durations are counted in steps of a fifth, from 0.1 ms on; 100 steps reach beyond the longest call. */
const STEP = Math.log(1.2);
const SMALLEST_MS = 0.1;
const STEPS = 100;

interface Slot {
  /** Minutes since the epoch of the clock. */
  minute: number;
  ok: number;
  blocked: number;
  errors: number;
  durations: Uint32Array;
}

/**
 * The calls of the last hour in memory, by tool and minute: what a page draws its charts from. Adding costs an
 * increment; a tool that is called in every minute holds 24 KiB.
 * @param now milliseconds
 */
export function createHistory(now: () => number = Date.now): CallHistory {
  const tools = new Map<string, (Slot | undefined)[]>();

  function slotOf(tool: string): Slot {
    let ring = tools.get(tool);
    if (!ring) tools.set(tool, (ring = Array.from({ length: MINUTES })));
    const minute = Math.floor(now() / MINUTE_MS);
    const slot = ring[minute % MINUTES];
    if (slot?.minute === minute) return slot;
    const fresh = { minute, ok: 0, blocked: 0, errors: 0, durations: new Uint32Array(STEPS) };
    ring[minute % MINUTES] = fresh;
    return fresh;
  }

  return {
    add({ tool, outcome, seconds }) {
      const slot = slotOf(tool);
      if (outcome === 'ok') slot.ok += 1;
      else if (outcome === 'blocked') slot.blocked += 1;
      else slot.errors += 1;
      const step = stepOf(seconds * 1000);
      slot.durations[step] = (slot.durations[step] ?? 0) + 1;
    },
    read(wanted) {
      const last = Math.floor(now() / MINUTE_MS);
      const names = [...wanted, ...[...tools.keys()].filter((tool) => !wanted.includes(tool))];
      return names.map((tool) => {
        const ring = tools.get(tool) ?? [];
        const slots = Array.from({ length: MINUTES }, (_, at) => {
          const minute = last - MINUTES + 1 + at;
          const slot = ring[minute % MINUTES];
          return slot?.minute === minute ? slot : undefined;
        });
        return { tool, minutes: slots.map((slot) => spanOf([slot])), total: spanOf(slots) };
      });
    },
  };
}

/** Metrics that tell `history` of each call too. */
export function withHistory(metrics: Metrics, history: CallHistory): Metrics {
  return {
    ...metrics,
    call(facts) {
      metrics.call(facts);
      history.add(facts);
    },
  };
}

function stepOf(ms: number): number {
  const step = Math.round(Math.log(Math.max(ms, SMALLEST_MS) / SMALLEST_MS) / STEP);
  return Math.min(STEPS - 1, step);
}

function spanOf(slots: readonly (Slot | undefined)[]): CallSpan {
  const span = { calls: 0, ok: 0, blocked: 0, errors: 0 };
  const durations = new Uint32Array(STEPS);
  for (const slot of slots) {
    if (!slot) continue;
    span.ok += slot.ok;
    span.blocked += slot.blocked;
    span.errors += slot.errors;
    slot.durations.forEach((count, step) => {
      durations[step] = (durations[step] ?? 0) + count;
    });
  }
  span.calls = span.ok + span.blocked + span.errors;
  return { ...span, p50: quantile(durations, span.calls, 0.5), p95: quantile(durations, span.calls, 0.95) };
}

/** The nearest-rank quantile. */
function quantile(durations: Uint32Array, calls: number, share: number): number | null {
  if (calls === 0) return null;
  let left = Math.ceil(calls * share);
  const step = durations.findIndex((count) => (left -= count) <= 0);
  return SMALLEST_MS * Math.exp(step * STEP);
}
