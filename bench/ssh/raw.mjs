// Bare ssh2 with Nagle off: what the library itself takes. Runs on the product's image; prints a list of numbers.
// node raw.mjs warm ADDRESS COUNT | pool MS ADDRESS… | bulk BYTES ADDRESS
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const { Client } = createRequire('/app/package.json')('ssh2');

function dial(host) {
  return new Promise((resolve, reject) => {
    const client = new Client();
    client.on('ready', () => resolve(client)).on('error', reject);
    const sock = connect({ host, port: 22, noDelay: true });
    client.connect({ sock, username: 'demo', privateKey: readFileSync('/bench/key') });
  });
}

function run(client, command) {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error) return reject(error);
      let exit;
      channel.on('exit', (code) => (exit = code)).on('data', () => {});
      channel.stderr.resume();
      channel.on('close', () => (exit === 0 ? resolve() : reject(new Error(`exit ${exit}`))));
      channel.end();
    });
  });
}

async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

async function times(client, count) {
  const all = [];
  for (let index = 0; index < count; index += 1) all.push(await timed(() => run(client, 'true')));
  return all;
}

const [mode, ...args] = process.argv.slice(2);
let result;
if (mode === 'warm') {
  const client = await dial(args[0]);
  await times(client, 30);
  result = await times(client, Number(args[1]));
} else if (mode === 'pool') {
  const [ms, ...hosts] = args;
  const clients = await Promise.all(hosts.map(dial));
  let ended = 0;
  const load = async (duration) => {
    ended = 0;
    const from = performance.now();
    const caller = async (client) => {
      while (performance.now() - from < duration) {
        try {
          await run(client, 'true');
          ended += 1;
        } catch (error) {
          // sshd counts a session a moment longer than its channel; whoever keeps eight busy is refused at times.
          if (error.reason === undefined) throw error;
          await wait(20);
        }
      }
    };
    await Promise.all(clients.flatMap((client) => Array.from({ length: 8 }, () => caller(client))));
    return ended / ((performance.now() - from) / 1000);
  };
  await load(500);
  result = [await load(Number(ms))];
} else {
  const client = await dial(args[1]);
  await run(client, 'true');
  result = [await timed(() => run(client, `head -c ${args[0]} /dev/zero`))];
}
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(0);
