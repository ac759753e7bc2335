import { html } from 'hono/html';

import { badge, duration, type Markup, minutes, NOTHING, plural, type Tone } from '../format.ts';
import type { View } from '../view.ts';

/** What an operator wants to know first, in six figures; each leads to the section that tells more. */
export function overview({ devices, health, calls, jobs }: View): Markup {
  const online = devices.value?.filter(({ online }) => online).length;
  const sum = (pick: 'calls' | 'blocked' | 'errors') =>
    calls.reduce((total, { total: span }) => total + span[pick], 0);
  const slowest = calls
    .filter(({ total }) => total.p95 !== null)
    .toSorted((a, b) => (b.total.p95 ?? 0) - (a.total.p95 ?? 0))[0];
  const running = jobs.filter(({ ended_at }) => ended_at === null).length;
  const checks = health.value?.checks ?? [];
  const failing = checks.filter(({ ok }) => !ok).length;

  return html`<ul class="figures">
    ${figure('#devices', 'Devices online', online === undefined ? '–' : String(online), {
      note: devices.value ? `of ${devices.value.length}` : (devices.error ?? 'asking…'),
      tone: devices.error === undefined ? 'plain' : 'warn',
    })}
    ${figure('#jobs', 'Jobs running', String(running), {
      note: running === 0 ? 'none now' : 'can be stopped',
      tone: running === 0 ? 'plain' : 'busy',
    })}
    ${figure('#calls', 'Calls', String(sum('calls')), { note: 'last hour', tone: 'plain' })}
    ${figure('#audit', 'Blocked, failed', `${sum('blocked')}, ${sum('errors')}`, {
      note: 'last hour',
      tone: sum('errors') > 0 ? 'bad' : sum('blocked') > 0 ? 'warn' : 'plain',
    })}
    ${figure('#calls', 'Slowest tool', slowest ? duration(slowest.total.p95 ?? 0) : '–', {
      note: slowest ? `${slowest.tool}, 95%` : 'no calls yet',
      tone: 'plain',
    })}
    ${figure(
      '#health',
      'Checks',
      checks.length === 0 ? '–' : `${checks.length - failing} of ${checks.length}`,
      {
        note: health.value ? `up ${minutes(health.value.uptimeSeconds * 1000)}` : (health.error ?? 'asking…'),
        tone: failing > 0 ? 'bad' : 'good',
      },
    )}
  </ul>`;
}

function figure(
  href: string,
  title: string,
  value: string,
  { note, tone }: { note: string; tone: Tone },
): Markup {
  return html`<li>
    <a id="figure-${title.toLowerCase().replaceAll(/\W+/g, '-')}" href="${href}" class="figure ${tone}">
      <span class="title">${title}</span>
      <span class="value">${value}</span>
      <span class="note">${note}</span>
    </a>
  </li>`;
}

/** What stands beside the product's name. */
export function status({ dryRun, health, trail }: View): Markup {
  const failing = health.value?.checks.filter(({ ok }) => !ok).length;
  return html`${
    failing === undefined
      ? badge('plain', 'Checking')
      : failing === 0
        ? badge('good', 'All well')
        : badge('bad', plural(failing, 'failing check'))
  }
  ${dryRun ? badge('warn', 'Dry run') : NOTHING} ${trail ? NOTHING : badge('warn', 'Audit off')}`;
}
