import { createCodeHostStandin } from '../../test/standins/code-host.ts';
import { createControl } from '../../test/standins/control.ts';
import { type Listening, listen } from '../../test/standins/listen.ts';
import { createMeshStandin } from '../../test/standins/mesh.ts';

const MESH_KEY = 'mesh-key-1';
const TOKEN = 'host-token-1';
const WITHOUT_LIMIT = Number.MAX_SAFE_INTEGER;

/** The mesh's and the code host's APIs, with so many devices and notes. */
export interface Outside {
  /** For the server's environment. */
  env: Record<string, string>;
  /** Time in ms of the request for the list of devices that the server makes, its answer read. */
  listDevices(): Promise<number>;
  close(): Promise<void>;
}

const SYLLABLES = 'ba ce di fo gu ha ke li mo nu pa re si to vu wa ze cho dri fle gra ko sta tri'.split(' ');
const VOCABULARY = Array.from({ length: 20_000 }, (_, place) => {
  const digits: string[] = [];
  for (let rest = place + 7; rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    digits.push(SYLLABLES[rest % SYLLABLES.length] ?? '');
  return digits.join('');
});

/** The word at a place by how often it is used; 0 is in nearly every note, as words of a language are. */
export const wordAt = (place: number) => VOCABULARY[place] ?? '';

/** Notes of 150 words, each with one of its own (`unique4711`), the same in every run. */
function someNotes(count: number) {
  let state = 1;
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
  const word = () => wordAt(Math.floor(VOCABULARY.length ** next()) - 1);
  return Array.from({ length: count }, (_, index) => ({
    owner: 'bench',
    description: `${word()} ${word()} unique${index} [snippet-kb: ${word()}]`,
    // One a minute: what changed since the newest is the newest, not all.
    updated_at: `${new Date(Date.UTC(2025, 0, 1) + index * 60_000).toISOString().slice(0, 19)}Z`,
    files: { 'note.md': Array.from({ length: 150 }, word).join(' ') },
  }));
}

export async function startOutside({ devices, notes }: { devices: number; notes: number }): Promise<Outside> {
  const listed = Array.from({ length: devices }, (_, index) => ({
    name: `device-${index}`,
    online: index % 2 === 1,
    tags: ['tag:bench'],
  }));
  const mesh = await listen(createMeshStandin({ devices: listed, apiKey: MESH_KEY }, createControl()));
  const codeHost: Listening = await listen(
    createCodeHostStandin(
      {
        tokens: { [TOKEN]: { login: 'bench', scopes: ['gist'] } },
        gists: someNotes(notes),
        limits: { core: WITHOUT_LIMIT, graphql: WITHOUT_LIMIT, points: WITHOUT_LIMIT },
      },
      createControl(),
    ),
  );
  return {
    env: {
      MESH_API_KEY: MESH_KEY,
      MESH_API_URL: mesh.url,
      CODE_HOST_TOKEN: TOKEN,
      CODE_HOST_API_URL: codeHost.url,
    },
    async listDevices() {
      const from = performance.now();
      const answer = await fetch(`${mesh.url}/api/v2/tailnet/-/devices?fields=all`, {
        headers: { authorization: `Bearer ${MESH_KEY}` },
      });
      await answer.text();
      return performance.now() - from;
    },
    async close() {
      await mesh.close();
      await codeHost.close();
    },
  };
}
