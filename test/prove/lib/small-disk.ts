import { container, docker, stack } from '../../support/stack.ts';
import { until } from '../../support/until.ts';
import type { ToolAnswer } from '../../support/server.ts';

const IMAGE = 'remote-tool-server/server:0.1.0';
const SERVICE = '10001:10001';
const AUDIT = '/data/audit/log';
/** On the device, whose disk is another one. */
const DONE = '/tmp/small-disk';

/**
 * A second server of the stack's image, confined as the composed one, whose audit log lies on a file system of
 * 256 KiB of its own. It reaches the stack's mesh, devices and code host.
 */
export async function startOnSmallDisk() {
  const name = `${stack.project}-small-disk`;
  const env = {
    MCP_SECRET: stack.secret,
    MESH_API_KEY: stack.meshKey,
    CODE_HOST_TOKEN: stack.codeHostToken,
    PROXY_ALLOWED_DOMAINS: 'demo-site',
    MESH_API_URL: 'http://demo-apis:8080',
    CODE_HOST_API_URL: 'http://demo-apis:8080/code-host',
    SSH_DEFAULT_USER: 'demo',
    SSH_KNOWN_HOSTS_PATH: '/tmp/known_hosts',
    AUDIT_LOG_PATH: `${AUDIT}/service-audit.log`,
    AUDIT_MAX_BYTES: '65536',
    AUDIT_KEEP_FILES: '2',
  };
  const confined = ['--init', '--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges:true'];
  await docker(
    ...['run', '--detach', '--name', name, ...confined],
    ...['SETUID', 'SETGID', 'KILL'].flatMap((capability) => ['--cap-add', capability]),
    ...[
      '--tmpfs',
      '/data/audit:size=256k,uid=10001,gid=10001,mode=700',
      '--tmpfs',
      '/tmp:mode=1777,size=16m',
    ],
    ...Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...['--network', `${stack.project}_outside`, '--publish', '127.0.0.1::3000', IMAGE],
  );
  await docker('network', 'connect', `${stack.project}_demo-mesh`, name);
  const address = (await docker('port', name, '3000/tcp')).trim().split('\n')[0];
  const url = `http://${address}/mcp?token=${stack.secret}`;
  const state = async (format: string) => (await docker('inspect', '--format', format, name)).trim();
  await until('the server is healthy', async () => (await state('{{.State.Health.Status}}')) === 'healthy');

  const inside = (command: string) => docker('exec', '--user', SERVICE, name, 'sh', '-c', command);
  const onDevice = (command: string) => docker('exec', container('db-1'), 'sh', '-c', command);

  return {
    inside,
    auditDirectory: AUDIT,
    /** When the server's process was started last. */
    startedAt: () => state('{{.State.StartedAt}} {{.RestartCount}}'),

    async call(tool: string, args: Record<string, unknown>): Promise<ToolAnswer> {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: tool, arguments: args },
        }),
      });
      return ((await response.json()) as { result: ToolAnswer }).result;
    },

    /** A command that leaves its mark on the device. */
    act: (mark: string) => ({ device: 'db-1', command: `echo ${mark} >>${DONE}` }),
    /** The marks of all commands that ran. */
    done: async () => (await onDevice(`cat ${DONE} 2>/dev/null || true`)).trim().split('\n'),

    /** What `audit verify` says: its words, and whether it found nothing. */
    verify: () =>
      docker('exec', name, 'remote-tool-server', 'audit', 'verify').then(
        (text) => ({ ok: true, text }),
        (error: { stdout?: string; stderr?: string }) => ({
          ok: false,
          text: `${error.stdout}${error.stderr}`,
        }),
      ),

    async stop() {
      await docker('rm', '--force', '--volumes', name);
      await onDevice(`rm -f ${DONE}`);
    },
  };
}

export type SmallDisk = Awaited<ReturnType<typeof startOnSmallDisk>>;
