import { html } from 'hono/html';

import { clock, type Markup, NOTHING } from '../format.ts';
import type { Reading } from '../fresh.ts';

/** Says that what is shown is old, and why. */
export function readingFault({ error, at }: Reading<unknown>): Markup {
  if (error === undefined) return NOTHING;
  return html`<p class="fault">
    ${error} ${at === undefined ? NOTHING : html`<span class="sub">Shown as of ${clock(at)}.</span>`}
  </p>`;
}
