import type { AuditRecord } from '../audit/record.ts';
import type { Verification } from '../audit/verify.ts';
import { stripInvisible } from '../core/visible-text.ts';

/** A call as one line of `audit tail`: its intent and its outcome where both are there. */
export interface AuditEntry {
  id: string;
  /** The intent, or the only record there is. */
  record: AuditRecord;
  outcome?: AuditRecord;
}

const LONGEST_GIST = 120;
const LONGEST_NAME = 24;

/** One line for a person: local time, how it ended, tool, duration, client, and the gist of the arguments. */
export function entryText({ record, outcome }: AuditEntry): string {
  const time = localTime(record.time);
  if (record.event === 'note') return `${time}  ${'note'.padEnd(12)} ${plain(record.message ?? '', 400)}`;
  const last = outcome ?? record;
  const duration = last.duration_ms === undefined ? '' : durationText(last.duration_ms);
  const { name = '?', ip = '?' } = record.client ?? {};
  const client = `${plain(name, LONGEST_NAME)}@${plain(ip, 45)}`;
  const rule = last.rule === undefined ? '' : `  [${plain(last.rule, LONGEST_GIST)}]`;
  return [
    time,
    statusOf(record, outcome).padEnd(12),
    plain(record.tool ?? '?', LONGEST_NAME).padEnd(14),
    duration.padStart(8),
    client.padEnd(24),
    (record.event === 'ended' ? endOf(record) : gistOf(record.arguments)) + rule,
  ]
    .join('  ')
    .trimEnd();
}

function statusOf(record: AuditRecord, outcome: AuditRecord | undefined): string {
  const last = outcome ?? record;
  if (last.error_code !== undefined) return plain(last.error_code, LONGEST_NAME);
  if (last.decision === 'invalid') return 'invalid';
  if (last.event === 'intent') return record.decision === 'dry_run' ? 'dry run …' : 'started';
  if (last.outcome === 'ok' && record.decision === 'dry_run') return 'dry run';
  return last.outcome ?? '?';
}

/** How a job ended that had outlived its call. */
function endOf({ job, exit_code: code, message }: AuditRecord): string {
  const how = message ?? (code === undefined || code === null ? 'no exit code' : `exit code ${code}`);
  return plain(`job ${job ?? '?'} ended: ${how}`);
}

/** What was asked for, in the words of its arguments: `web-1: uptime`, `GET https://…`, `search backup`. */
function gistOf(given: unknown): string {
  if (typeof given !== 'object' || given === null)
    return given === undefined ? '' : plain(JSON.stringify(given));
  const args = given as Record<string, unknown>;
  const first = (...names: string[]) =>
    names.map((name) => args[name]).find((value) => typeof value === 'string');
  const device = first('device');
  const words = [
    device === undefined ? undefined : `${device as string}:`,
    first('action', 'method'),
    first('command', 'url', 'query', 'ref', 'selector', 'title', 'id', 'job', 'text', 'key', 'tag'),
  ].filter((word) => word !== undefined);
  if (words.length > 0) return plain(words.join(' '));
  const json = JSON.stringify(args);
  return json === '{}' ? '' : plain(json);
}

/** On one line, without anything that would steer a terminal. */
function plain(text: string, longest = LONGEST_GIST): string {
  const line = stripInvisible(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1)}…`;
}

function localTime(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return plain(iso, 19).padEnd(19);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}

function durationText(ms: number): string {
  return ms < 10_000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** The report of `audit verify`: the first fault on the first line, then the counts. */
export function verificationText({
  ok,
  first,
  files,
  records,
  verified,
  bad,
  unverifiable,
  end,
}: Verification): string {
  const lines: string[] = [];
  if (first) lines.push(`${first.file}:${first.line}: ${first.kind}: ${first.detail}`);
  for (const [key, count] of unverifiable) {
    lines.push(
      `not verifiable with the keys given: ${counted(count, 'record')} made with key ${plain(key)}; set MCP_SECRET_PREVIOUS to the secret of that time`,
    );
  }
  if (end === 'unknown_key')
    lines.push('the end was not checked: the head file was made with a key that is not given');
  if (end === 'unchecked') lines.push('the end was not checked: there is no head file beside what was given');
  lines.push(
    `${ok ? 'ok: ' : ''}${counted(records, 'record')} in ${counted(files, 'file')}, ${verified} verified${bad > 0 ? `, ${bad} bad` : ''}`,
  );
  return `${lines.join('\n')}\n`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
