import { createHash } from 'node:crypto';

import { html, raw } from 'hono/html';

import { SERVER_NAME } from '../core/version.ts';
import { SCRIPT } from './assets/script.ts';
import { STYLE } from './assets/style.ts';
import { type Markup, NOTHING } from './format.ts';
import { audit, auditFilter } from './sections/audit.ts';
import { calls } from './sections/calls.ts';
import { devices } from './sections/devices.ts';
import { health } from './sections/health.ts';
import { jobs } from './sections/jobs.ts';
import { overview, status } from './sections/overview.ts';
import { settings } from './sections/settings.ts';
import type { View } from './view.ts';

/** The parts of the page that are renewed while it is open, by the id of the element that holds each. */
const LIVE: Record<string, (view: View) => Markup> = {
  status,
  overview,
  jobs,
  calls,
  devices,
  health,
  audit,
  settings,
};

export interface LivePart {
  id: string;
  hash: string;
  html: string;
}

export async function liveParts(view: View): Promise<LivePart[]> {
  return Promise.all(
    Object.entries(LIVE).map(async ([id, render]) => {
      const text = String(await render(view));
      return { id, hash: digest(text), html: text };
    }),
  );
}

/** What a form that was sent came to; by a code, so that no link can put words on the page. */
const NOTICES: Record<string, { tone: string; text: string }> = {
  stopped: { tone: 'good', text: 'The job was stopped.' },
  unrecorded: { tone: 'bad', text: 'The job was stopped, but the audit log could not be written.' },
  ended: { tone: 'warn', text: 'That job had ended already.' },
  failed: { tone: 'bad', text: 'The job could not be stopped; the server’s log says why.' },
};

export async function consolePage(view: View, notice: string | undefined): Promise<string> {
  const parts = new Map((await liveParts(view)).map((part) => [part.id, part]));
  const live = (id: string, kind = 'div') => {
    const { hash = '', html: text = '' } = parts.get(id) ?? {};
    return html`<div class="${kind}" data-live="${id}" data-hash="${hash}">${raw(text)}</div>`;
  };
  const section = (id: string, title: string, note: string, kind = '', before: Markup = NOTHING) =>
    html`<section id="${id}" class="${kind}" aria-labelledby="${id}-title">
      <div class="heading">
        <h2 id="${id}-title">${title}</h2>
        <p class="sub">${note}</p>
      </div>
      ${before}${live(id)}
    </section>`;
  const said = NOTICES[notice ?? ''];
  const body = html`<a class="skip" href="#main">Skip to the content</a>
    <header>
      <div class="brand">
        <h1>${SERVER_NAME}</h1>
        <span class="sub">${view.host}</span>
        ${live('status', 'badges')}
      </div>
      <div class="tools-right">
        <span id="live-state" class="sub" role="status">Reload to renew</span>
        <button id="live-toggle" type="button" hidden>Pause</button>
        <form method="post" action="/console/sign-out">
          <input type="hidden" name="form_token" value="${view.formToken}" />
          <button>Sign out</button>
        </form>
      </div>
    </header>
    <main id="main">
      ${said ? html`<p class="notice ${said.tone}" role="status">${said.text}</p>` : NOTHING}
      ${live('overview')} ${section('jobs', 'Jobs', 'commands that go on after their call was answered')}
      ${section('calls', 'Calls', 'last hour, by minute: how many, and how long they took')}
      <div class="pair">
        ${section('devices', 'Devices', view.network)}
        ${section('health', 'Health', 'what the tools depend on')}
      </div>
      ${section('audit', 'Audit trail', 'the newest calls, secrets redacted', '', auditFilter(view))}
      ${section('settings', 'Configuration', 'as it is in force')}
    </main>
    <footer class="sub">
      Version ${view.health.value?.version ?? '–'}. Times are in <span id="zone">UTC</span>.
    </footer>`;
  return document(`Console · ${view.host}`, body, true);
}

/** What somebody sees who is not signed in. */
export async function signInPage(why: 'none' | 'wrong'): Promise<string> {
  const body = html`<main class="sign-in" id="main">
    <h1>${SERVER_NAME}</h1>
    <p>The console shows devices, calls, jobs and the audit trail to the server’s operator.</p>
    ${why === 'wrong' ? html`<p class="notice bad" role="alert">That is not the secret.</p>` : NOTHING}
    <form method="post" action="/console">
      <input type="text" name="username" value="operator" autocomplete="username" hidden />
      <label
        >Shared secret (MCP_SECRET)
        <input type="password" name="token" autocomplete="current-password" required autofocus />
      </label>
      <button class="primary">Open the console</button>
    </form>
    <p class="sub">
      Or open <code>/console?token=&lt;MCP_SECRET&gt;</code>. Either way the browser stays signed in for 12
      hours, and the secret itself is not kept in it.
    </p>
  </main>`;
  return document(`Console · ${SERVER_NAME}`, body, false);
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%232f6fde'/%3E%3Cpath d='M4 5l3 3-3 3M8.5 11H12' stroke='white' stroke-width='1.6' fill='none'/%3E%3C/svg%3E";

async function document(title: string, body: Markup, script: boolean): Promise<string> {
  const text = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="${ICON}" />
        <link rel="stylesheet" href="/console/style.css?v=${digest(STYLE)}" />
        ${script ? html`<script src="/console/app.js?v=${digest(SCRIPT)}" defer></script>` : NOTHING}
      </head>
      <body>
        ${body}
      </body>
    </html>`;
  return String(text);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}
