import { describe } from 'vitest';

import type { ToolAnswer } from '../support/server.ts';
import { call, inside, post, secureFetch, stack } from '../support/stack.ts';
import { flood, percentiles, timesDuring } from './lib/flood.ts';
import { withSettings } from './lib/settings-file.ts';
import { prove, tries } from './row.ts';

/** Calls of ssh_exec at a time, while it is tried; far below what the flood asks for. */
const MOST = 12;

/** How many calls the device had at once, and how many in all, counted by the device. */
const COUNTED = `d=/tmp/under-way; mkdir -p $d/$$; ls $d | wc -l >>/tmp/counts; sleep 0.2; rmdir $d/$$`;
const clear = () => inside('db-1', 'rm -rf /tmp/under-way /tmp/counts /tmp/runs');
async function counts(): Promise<number[]> {
  return (await inside('db-1', 'cat /tmp/counts 2>/dev/null || true'))
    .trim()
    .split('\n')
    .filter(Boolean)
    .map(Number);
}

/** Tells an answer that was refused by a limit from one that ran; adds to `failures` what is neither. */
function wasRefused({ structuredContent }: ToolAnswer, failures: string[]): boolean {
  const error = structuredContent.error as
    { code: string; message: string; hint?: string; retry_after_seconds?: number } | undefined;
  if (error === undefined) return false;
  if (error.code !== 'rate_limited') failures.push(`${error.code}: ${error.message}`);
  if (!((error.retry_after_seconds ?? 0) >= 1)) failures.push('a refusal without the wait');
  if (error.hint === undefined) failures.push('a refusal without a hint');
  return true;
}

/** GET /health with the secret, through Caddy. */
async function health(failures: string[]): Promise<void> {
  const response = await secureFetch(`${stack.base}/health?token=${stack.secret}`);
  const { status } = (await response.json()) as { status?: string };
  if (response.status !== 200 || status !== 'ok') failures.push(`/health answered ${response.status}`);
}

const intents = async (): Promise<number> =>
  Number(await inside('server', `grep -c '"event":"intent"' /data/audit/service-audit.log || true`, '10001'));

describe('limits', () => {
  // A limiter that one tool's crowd fills locks out everybody: a limit has to leave room beside it.
  prove(
    'limits',
    'A crowd of calls to one tool is held to its limit; /health and the other tools answer on',
    async () => {
      const failures: string[] = [];
      const all = tries(3_000, 150);
      let ran = 0;
      let refused = 0;
      let others = 0;
      await clear();
      await call('ssh_exec', { device: 'db-1', command: 'true' });
      const [healthTimes, otherTimes] = await withSettings(
        `limits:\n  concurrent_calls_by_tool: {ssh_exec: ${MOST}}\n`,
        async () => {
          const crowd = flood(all, 64, async () => {
            const answer = await call('ssh_exec', { device: 'db-1', command: COUNTED });
            if (wasRefused(answer, failures)) refused += 1;
            else ran += 1;
          });
          return Promise.all([
            timesDuring(crowd, () => health(failures)),
            timesDuring(crowd, async () => {
              others += 1;
              const answer =
                others % 2 === 0
                  ? await call('mesh_status', {})
                  : await call('fetch_external', { url: 'http://demo-site/' });
              const code = answer.structuredContent.error?.code;
              if (code !== undefined) failures.push(`another tool was answered ${code}`);
            }),
            crowd,
          ]);
        },
      );
      const seen = await counts();
      if (seen.length !== ran) failures.push(`${ran} calls were answered and the device ran ${seen.length}`);
      if (Math.max(...seen) > MOST) failures.push(`the device had ${Math.max(...seen)} at a time`);
      if (refused === 0) failures.push('nothing was refused, so nothing was tried');
      return {
        tries: all + others + healthTimes.length,
        failures,
        figures: `${ran} ran, at most ${Math.max(...seen)} of ${MOST} at a time, ${refused} refused; /health ${percentiles(healthTimes)}; other tools ${percentiles(otherTimes)}`,
      };
    },
  );

  prove(
    'limits',
    'No more calls become actions than the rate lets through, also not in a batch',
    async () => {
      const failures: string[] = [];
      const perMinute = tries(60, 12);
      const all = perMinute * 10;
      let ran = 0;
      await clear();
      const elapsed = await withSettings(
        `limits:\n  calls_per_minute_by_tool: {ssh_exec: ${perMinute}}\n`,
        async () => {
          const from = performance.now();
          const params = { name: 'ssh_exec', arguments: { device: 'db-1', command: 'echo >>/tmp/runs' } };
          await flood(all / 10, 8, async () => {
            const batch = Array.from({ length: 10 }, (_, n) => ({
              jsonrpc: '2.0',
              id: n + 1,
              method: 'tools/call',
              params,
            }));
            const answers = (await (await post(batch)).json()) as { result: ToolAnswer }[];
            if (answers.length !== 10) failures.push(`a batch of 10 had ${answers.length} answers`);
            for (const { result } of answers) if (!wasRefused(result, failures)) ran += 1;
          });
          const seconds = (performance.now() - from) / 1_000;
          // The wait that is told is the true one.
          const now = () => call('ssh_exec', { device: 'db-1', command: 'true' });
          let last = await now();
          while (!wasRefused(last, failures)) last = await now();
          const { retry_after_seconds: wait = 0 } = last.structuredContent.error as {
            retry_after_seconds?: number;
          };
          await new Promise((resolve) => setTimeout(resolve, wait * 1_000));
          const later = await now();
          if (wasRefused(later, failures)) failures.push(`still refused after the ${wait} s that were told`);
          return seconds;
        },
      );
      const runs = Number(await inside('db-1', 'wc -l </tmp/runs'));
      const most = perMinute * 5 + Math.ceil((elapsed * perMinute) / 60);
      if (runs > most) failures.push(`${runs} ran, ${most} is the most`);
      if (runs < perMinute * 5) failures.push(`${runs} ran, where ${perMinute * 5} may come at once`);
      if (runs !== ran) failures.push(`${ran} calls were answered and the device ran ${runs}`);
      return {
        tries: all + 2,
        failures,
        figures: `${runs} of ${all} ran in ${elapsed.toFixed(1)} s at ${perMinute} a minute`,
      };
    },
  );

  // Elsewhere a limit on failed logins that counted by the proxy's address locked out everyone behind it.
  prove(
    'limits',
    'A flood of requests with a wrong secret keeps no client with the right one out',
    async () => {
      const failures: string[] = [];
      const all = tries(10_000, 600);
      const before = await intents();
      let busy = 0;
      const crowd = flood(all, 64, async (n) => {
        const token = n % 2 === 0 ? `${stack.secret}x` : 'guess';
        const response = await secureFetch(`${stack.base}/mcp?token=${token}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-forwarded-for': `198.51.100.${n % 250}` },
          body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mesh_status","arguments":{}}}',
        });
        await response.arrayBuffer();
        // Of a server that is too busy Caddy says 502 by itself; that is counted, and lets nobody in.
        if (response.status === 502) busy += 1;
        else if (response.status !== 401) failures.push(`a wrong secret was answered ${response.status}`);
      });
      const [healthTimes] = await Promise.all([timesDuring(crowd, () => health(failures)), crowd]);
      const answer = await call('mesh_status', {});
      if (answer.isError === true) failures.push('the right secret was refused after the flood');
      if ((await intents()) !== before + 1) failures.push('the flood left records of calls');
      return {
        tries: all + healthTimes.length + 1,
        failures,
        figures: `/health ${percentiles(healthTimes)}; ${busy} times 502`,
      };
    },
  );
});
