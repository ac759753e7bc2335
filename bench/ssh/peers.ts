import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

/** Another server that runs commands over SSH. */
export interface Peer {
  name: string;
  /** Runs `true` on the device. @throws when that did not work */
  exec(): Promise<void>;
  close(): Promise<void>;
}

/** Both over stdio, which spares them HTTP, with their audit logs as they come. */
export async function startPeers(address: string, directory: string): Promise<Peer[]> {
  const key = join(directory, 'key');
  const config = join(directory, '.config/ssh-mcp');
  mkdirSync(config, { recursive: true });
  chmodSync(config, 0o700);
  writeFileSync(
    join(config, 'config.toml'),
    `[defaults]
defaultProfile = "device"

[[profiles]]
name = "device"
host = "${address}"
port = 22
user = "demo"
auth = "key"
keyRef = "${key}"
role = "admin"
approvalPolicy = "auto"
`,
    { mode: 0o600 },
  );
  return [
    await start('ssh-mcp', 'ssh-mcp/build/index.js', { HOME: directory }, 'run-command', { command: 'true' }),
    await start(
      'mcp-ssh-manager',
      'mcp-ssh-manager/src/index.js',
      {
        HOME: directory,
        SSH_SERVER_DEVICE_HOST: address,
        SSH_SERVER_DEVICE_USER: 'demo',
        SSH_SERVER_DEVICE_KEYPATH: key,
      },
      'ssh_execute',
      { server: 'device', command: 'true' },
    ),
  ];
}

async function start(
  name: string,
  script: string,
  env: Record<string, string>,
  tool: string,
  args: Record<string, unknown>,
): Promise<Peer> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [join(process.cwd(), 'bench/peers/node_modules', script)],
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stderr: 'ignore',
    }),
  );
  return {
    name,
    async exec() {
      const result = await client.callTool({ name: tool, arguments: args });
      if (result.isError === true)
        throw new Error(`${name}: ${JSON.stringify(result.content).slice(0, 500)}`);
    },
    close: () => client.close(),
  };
}
