import { html } from 'hono/html';

import type { CallSpan } from '../metrics/history.ts';
import { duration, type Markup, plural } from './format.ts';

/** A chart is as wide as its minutes; it is stretched to the room there is. */
const STEP = 4;
const BAR = 3;
const HEIGHT = 36;

/** Bars of the calls in each minute, by outcome. */
export function callsChart(minutes: readonly CallSpan[]): Markup {
  const most = Math.max(1, ...minutes.map(({ calls }) => calls));
  const all = minutes.reduce((sum, { calls }) => sum + calls, 0);
  const label =
    all === 0
      ? 'No calls in the last hour'
      : `Calls per minute in the last hour: ${all} in all, at most ${most} in a minute`;
  const bars = minutes.map((minute, at) => {
    if (minute.calls === 0) return '';
    const { ok, blocked, errors } = minute;
    let top = HEIGHT;
    const part = (count: number, tone: string) => {
      if (count === 0) return '';
      // A single failure among many calls must not be too thin to see.
      const height = Math.max(2, (count / most) * (HEIGHT - 2));
      top = Math.max(0, top - height);
      return rect(at, top, height, tone);
    };
    const parts = [part(ok, 'ok'), part(blocked, 'blocked'), part(errors, 'error')];
    return html`<g
      ><title>${ago(minutes.length - 1 - at)}: ${plural(minute.calls, 'call')}</title>${parts}</g
    >`;
  });
  return chart(label, minutes.length, bars);
}

/** For each minute a bar up to the median, and a paler one on to the 95th percentile, on a square-root scale. */
export function latencyChart(minutes: readonly CallSpan[], total: CallSpan): Markup {
  const slowest = Math.max(1, ...minutes.map(({ p95 }) => p95 ?? 0));
  // Linear, one slow call would flatten all others.
  const heightOf = (ms: number) => Math.max(2, Math.sqrt(ms / slowest) * (HEIGHT - 2));
  const label =
    total.p50 === null || total.p95 === null
      ? 'No durations in the last hour'
      : `Duration of calls in the last hour: median ${duration(total.p50)}, 95th percentile ${duration(total.p95)}`;
  const marks = minutes.map(({ p50, p95 }, at) => {
    if (p50 === null || p95 === null) return '';
    const [most, middle] = [heightOf(p95), heightOf(p50)];
    return html`<g
      ><title>${ago(minutes.length - 1 - at)}: median ${duration(p50)}, 95% within ${duration(p95)}</title
      >${rect(at, HEIGHT - most, most - middle, 'spread')}${rect(at, HEIGHT - middle, middle, 'median')}</g
    >`;
  });
  return chart(label, minutes.length, marks);
}

function chart(label: string, steps: number, content: readonly (Markup | string)[]): Markup {
  const width = steps * STEP;
  return html`<svg
    class="chart"
    role="img"
    aria-label="${label}"
    viewBox="0 0 ${width} ${HEIGHT}"
    preserveAspectRatio="none"
  >
    <rect class="base" x="0" y="${HEIGHT - 1}" width="${width}" height="1"></rect>
    ${content}
  </svg>`;
}

function rect(at: number, top: number, height: number, tone: string): Markup {
  return html`<rect
    class="${tone}"
    x="${at * STEP}"
    y="${round(top)}"
    width="${BAR}"
    height="${round(height)}"
  ></rect>`;
}

function ago(minutes: number): string {
  return minutes === 0 ? 'this minute' : `${minutes} min ago`;
}

function round(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '');
}
