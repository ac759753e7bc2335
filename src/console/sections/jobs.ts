import { html } from 'hono/html';

import type { JobSummary } from '../../core/jobs.ts';
import { badge, clip, clock, duration, type Markup, minutes, NOTHING } from '../format.ts';
import { empty, table } from '../table.ts';
import type { View } from '../view.ts';

const COLUMNS = [
  { title: 'Command', kind: 'wide' as const },
  { title: 'Device' },
  { title: 'Started' },
  { title: 'Time', kind: 'number' as const },
  { title: 'State' },
];
const LONGEST_COMMAND = 300;
/** Ended ones are history, and the audit trail has it. */
const MOST_ENDED = 10;

/** The commands that outlived their call; those that run have a button that ends them. */
export function jobs({ jobs: all, formToken }: View): Markup {
  const running = all.filter(({ ended_at }) => ended_at === null);
  const ended = all.filter(({ ended_at }) => ended_at !== null).slice(0, MOST_ENDED);
  if (running.length + ended.length === 0) {
    return empty('No command runs on. One that outlives its call’s wait_seconds shows up here.');
  }
  return table(
    'jobs',
    'Jobs',
    COLUMNS,
    [...running, ...ended].map((job) => row(job, formToken)),
  );
}

function row(job: JobSummary, formToken: string): Markup[] {
  const { id, device, user, command, started_at, ended_at } = job;
  const took = (ended_at === null ? Date.now() : Date.parse(ended_at)) - Date.parse(started_at);
  return [
    html`<code class="command">${clip(command, LONGEST_COMMAND)}</code> <span class="sub">${id}</span>`,
    html`<span class="main">${device}</span> <span class="sub">as ${user}</span>`,
    clock(started_at),
    html`${ended_at === null ? minutes(took) : duration(took)}`,
    ended_at === null
      ? html`${badge('busy', 'Running')}
          <form method="post" action="/console/jobs/${encodeURIComponent(id)}/cancel">
            <input type="hidden" name="form_token" value="${formToken}" />
            <button id="stop-${id}" class="danger" aria-label="Stop ${clip(command, 60)} on ${device}">
              Stop
            </button>
          </form>`
      : ending(job),
  ];
}

function ending({ exit_code, signal, timed_out, cancelled }: JobSummary): Markup {
  const how =
    exit_code !== null ? `exit code ${exit_code}` : signal !== null ? `signal ${signal}` : 'connection lost';
  const state = cancelled
    ? badge('plain', 'Stopped')
    : timed_out
      ? badge('bad', 'Timed out')
      : exit_code === 0
        ? badge('good', 'Done')
        : badge('bad', 'Failed');
  return html`${state} ${exit_code === 0 ? NOTHING : html`<span class="sub">${how}</span>`}`;
}
