import { join } from 'node:path';

import type { ServerCommand } from './process.ts';

export const SECRET = 'c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00';

/** The built server, with an audit log of its own under `directory`; what it would reach outside is not there. */
export function product(directory: string, env: Readonly<Record<string, string>> = {}): ServerCommand {
  return {
    // As the image starts it.
    args: ['--max-semi-space-size=4', join(process.cwd(), 'dist/main.js')],
    cwd: directory,
    log: join(directory, 'server.log'),
    env: {
      LISTEN_HOST: '127.0.0.1',
      MCP_SECRET: SECRET,
      MESH_API_KEY: 'mesh-key-1',
      MESH_API_URL: 'http://127.0.0.1:9',
      CODE_HOST_TOKEN: 'host-token-1',
      PROXY_ALLOWED_DOMAINS: 'api.example.org',
      SSH_KEY_PATH: join(directory, 'no-key'),
      AUDIT_LOG_PATH: join(directory, 'audit.log'),
      ...env,
    },
  };
}
