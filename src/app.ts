import { noAudit, openAuditLog } from './audit/log.ts';
import { createCodeHostCheck } from './codehost/check.ts';
import { createCodeHost } from './codehost/client.ts';
import type { Config } from './config/schema.ts';
import type { Log } from './core/log.ts';
import { createGate } from './gate/call.ts';
import { createHealth } from './http/health.ts';
import { createRouter } from './http/router.ts';
import { createMcpEndpoint } from './mcp/handler.ts';
import { createMesh } from './mesh/client.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createBrowserCheck } from './tools/browser/check.ts';
import { createTools } from './tools/index.ts';

export interface AppParts {
  config: Config;
  /** The text of the SSH key, undefined where there is none. */
  privateKey: string | undefined;
  /** Values by the name of the variable that holds each. */
  secrets: ReadonlyMap<string, string>;
  redact: (text: string) => string;
  /** The PATH on which programs are looked for. */
  path: string | undefined;
  log: Log;
}

export interface App {
  fetch: ReturnType<typeof createRouter>['fetch'];
  /** Waits until no call is under way, at most `graceMs`, then ends those that are. */
  settle(graceMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Puts the parts together. @throws ToolError when the audit log cannot be opened */
export async function createApp({ config, privateKey, secrets, redact, path, log }: AppParts): Promise<App> {
  const { secret, previousSecret } = config.server;
  const audit = config.audit.enabled
    ? await openAuditLog({ ...config.audit, secret, previousSecrets: [previousSecret], redact })
    : noAudit;
  const mesh = createMesh(config.mesh);
  const codeHost = createCodeHost(config.codeHost);
  const tools = createTools({ settings: config, mesh, codeHost, privateKey, secrets, path, log });
  const metrics = createMetrics();
  const gate = createGate({ tools, audit, metrics, redact, log });
  const mcp = createMcpEndpoint(tools, gate, log);
  const health = createHealth(() => config.ssh.dryRun, {
    mesh: async (signal) => {
      const devices = await mesh.devices(signal);
      return `${devices.filter(({ online }) => online).length} of ${devices.length} devices online`;
    },
    code_host: createCodeHostCheck(codeHost),
    ssh_key: async () => {
      if (privateKey === undefined)
        throw new Error('no key: only devices with the SSH method "none" can be reached');
      return 'loaded';
    },
    browser: createBrowserCheck(config.browser),
    audit: async () => {
      const { ok, detail } = audit.state();
      if (!ok) throw new Error(detail);
      return detail;
    },
  });
  const router = createRouter({ settings: config.server, mcp, health, metrics, log });

  return {
    fetch: router.fetch,
    settle: (graceMs) => gate.settle(graceMs),
    async close() {
      await mcp.close();
      await Promise.all(tools.map((tool) => tool.close()));
      await codeHost.close();
      await audit.close();
    },
  };
}
