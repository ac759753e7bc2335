import { html } from 'hono/html';

import type { ToolHistory } from '../../metrics/history.ts';
import { callsChart, latencyChart } from '../chart.ts';
import { duration, type Markup, NOTHING, plural } from '../format.ts';
import type { View } from '../view.ts';

/** One card a tool: how often it was called, how that ended, how long it took. */
export function calls({ calls: tools }: View): Markup {
  return html`<ul class="tools">
    ${tools.map(card)}
  </ul>`;
}

function card({ tool, minutes, total }: ToolHistory): Markup {
  const most = Math.max(...minutes.map(({ calls }) => calls));
  return html`<li class="tool">
    <div class="row">
      <h3>${tool === 'unknown' ? 'no such tool' : tool}</h3>
      <span class="count">${plural(total.calls, 'call')}</span>
    </div>
    ${callsChart(minutes)}
    <p class="sub">
      ${total.calls === 0 ? 'none in the last hour' : `at most ${most} a minute`}${outcome(total.blocked, 'blocked')}${outcome(total.errors, 'failed')}
    </p>
    ${latencyChart(minutes, total)}
    <p class="sub">
      ${total.p50 === null || total.p95 === null ? '–' : `median ${duration(total.p50)}, 95% within ${duration(total.p95)}`}
    </p>
  </li>`;
}

function outcome(count: number, word: string): Markup {
  return count === 0 ? NOTHING : html`, <span class="${word}-text">${count} ${word}</span>`;
}
