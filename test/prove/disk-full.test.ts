import { afterAll, beforeAll } from 'vitest';

import type { ToolAnswer } from '../support/server.ts';
import { type SmallDisk, startOnSmallDisk } from './lib/small-disk.ts';
import { prove, tries } from './row.ts';

// Elsewhere a full disk ended the recording and not the calls, or left half a line that the next record was glued to.

let disk: SmallDisk;
beforeAll(async () => {
  disk = await startOnSmallDisk();
});
afterAll(() => disk.stop());

const refusedFor = (answer: ToolAnswer): string => {
  const { code, message } = answer.structuredContent.error ?? {};
  const clear = code === 'internal' && /^The audit log \S+ cannot be written \(\w+\)/.test(message ?? '');
  return answer.isError === true && clear ? 'the audit log' : JSON.stringify(answer.structuredContent);
};

/** Calls while the log cannot be written: none may act, and each must say why. */
async function callsInVain(prefix: string, count: number, failures: string[]): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const mark = `${prefix}-${at}`;
    const kinds: [string, Record<string, unknown>][] = [
      ['ssh_exec', disk.act(mark)],
      ['snippet_kb', { action: 'create', title: `in-vain-${mark}`, files: { 'a.md': mark } }],
      ['mesh_status', {}],
      ['ssh_exec', { device: 'db-1', commmand: mark }],
    ];
    const [tool, args] = kinds[at % kinds.length] as (typeof kinds)[number];
    const why = refusedFor(await disk.call(tool, args));
    if (why !== 'the audit log') failures.push(`${mark} (${tool}): answered ${why}`);
  }
  const done = (await disk.done()).filter((mark) => mark.startsWith(`${prefix}-`));
  for (const mark of done) failures.push(`${mark}: ran without a record`);
}

/** Notes made by calls that were refused. */
async function notesInVain(failures: string[]): Promise<void> {
  const script = `fetch('http://demo-apis:8080/code-host/gists', {
    headers: { authorization: 'Bearer ' + process.env.CODE_HOST_TOKEN },
  }).then(async (response) => console.log(await response.text()))`;
  const notes = await disk.inside(`node -e "${script}"`);
  if (!notes.includes('[snippet-kb')) failures.push(`the notes cannot be listed: ${notes.slice(0, 200)}`);
  if (notes.includes('in-vain-')) failures.push('a note was written without a record');
}

/** The next call runs, and is recorded, by the same process. */
async function worksAgain(prefix: string, started: string, failures: string[]): Promise<void> {
  const mark = `${prefix}-after`;
  const answer = await disk.call('ssh_exec', disk.act(mark));
  if (answer.structuredContent['exit_code'] !== 0)
    failures.push(`${mark}: not run: ${JSON.stringify(answer.structuredContent)}`);
  if (!(await disk.done()).includes(mark)) failures.push(`${mark}: answered and not run`);
  if ((await disk.startedAt()) !== started) failures.push(`${prefix}: it took a restart`);
}

prove('audit', 'On a full disk no call acts, each says why, and all is well once there is room', async () => {
  const failures: string[] = [];
  const rounds = tries(25, 1);
  const perRound = tries(40, 8);
  const started = await disk.startedAt();
  const filler = `${disk.auditDirectory}/../filler`;
  for (let round = 0; round < rounds; round += 1) {
    const prefix = `full-${round}`;
    await disk.inside(`cat /dev/zero >${filler} 2>/dev/null || true`);
    // What is left of the log's last block may still take a few records.
    for (let at = 0; refusedFor(await disk.call('mesh_status', {})) !== 'the audit log'; at += 1) {
      if (at === 100) throw new Error('100 records went to a full disk');
    }
    await callsInVain(prefix, perRound, failures);
    await disk.inside(`rm ${filler}`);
    await worksAgain(prefix, started, failures);
    const { ok, text } = await disk.verify();
    if (!ok) failures.push(`${prefix}: audit verify: ${text}`);
  }
  await notesInVain(failures);
  return { tries: rounds * perRound, failures, figures: `the disk was filled ${rounds} times` };
});

/** What makes a log unwritable, and what undoes it. */
const FAULTS: Readonly<Record<string, [string, string]>> = {
  'its directory is gone': ['mv log away', 'mv away log'],
  'its directory may not be entered': ['chmod 000 log', 'chmod 700 log'],
  'its directory is a file': ['mv log away; touch log', 'rm log; mv away log'],
  'a directory has its name': [
    'mv log/service-audit.log away; mkdir log/service-audit.log',
    'rmdir log/service-audit.log; mv away log/service-audit.log',
  ],
  'a link to a device that is always full has its name': [
    'mv log/service-audit.log away; ln -s /dev/full log/service-audit.log',
    'rm log/service-audit.log; mv away log/service-audit.log',
  ],
};

prove('audit', 'Where the log cannot be written for another reason, no call acts either', async () => {
  const failures: string[] = [];
  const perFault = tries(40, 4);
  const started = await disk.startedAt();
  const faults = Object.entries(FAULTS).slice(0, tries(Infinity, 1));
  for (const [at, [fault, [bring, undo]]] of faults.entries()) {
    const prefix = `fault${at}`;
    const within = (command: string) => disk.inside(`cd ${disk.auditDirectory}/..; ${command}`);
    await within(bring);
    const found: string[] = [];
    await callsInVain(prefix, perFault, found);
    await within(undo);
    await worksAgain(prefix, started, found);
    failures.push(...found.map((text) => `${fault}: ${text}`));
  }
  await notesInVain(failures);
  return { tries: perFault * faults.length, failures, figures: faults.map(([fault]) => fault).join(', ') };
});
