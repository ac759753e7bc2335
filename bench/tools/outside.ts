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

const WORDS =
  'backup nas router printer cable switch upgrade certificate kernel mount restore snapshot'.split(' ');
const word = (index: number) => WORDS[index % WORDS.length] ?? '';

/** A note of about a kilobyte; each has a word of its own. */
function note(index: number) {
  const lines = Array.from({ length: 20 }, (_, line) =>
    [index, index >> 3, line, index + line].map(word).concat(`step ${line} of ${index}`).join(' '),
  );
  return {
    owner: 'bench',
    description: `${word(index)} ${word(index >> 4)} unique${index} [snippet-kb: ${word(index)}]`,
    files: { 'note.md': lines.join('\n') },
  };
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
        gists: Array.from({ length: notes }, (_, index) => note(index)),
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
