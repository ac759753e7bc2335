import { noAudit, openAuditLog } from './audit/log.ts';
import { createCodeHostCheck } from './codehost/check.ts';
import { createCodeHost } from './codehost/client.ts';
import { describeSettings } from './config/describe.ts';
import type { SettingSources } from './config/load.ts';
import type { Config } from './config/schema.ts';
import { createConsole } from './console/console.ts';
import { createTrail } from './console/trail.ts';
import { readTail } from './console/trail-file.ts';
import type { Log } from './core/log.ts';
import { SERVER_NAME, VERSION } from './core/version.ts';
import { createGate } from './gate/call.ts';
import { createAuthenticator } from './http/auth.ts';
import { createClientAddress } from './http/client-address.ts';
import { createHealth } from './http/health.ts';
import { createRouter } from './http/router.ts';
import { createMcpEndpoint } from './mcp/handler.ts';
import { createMesh } from './mesh/client.ts';
import { createHistory, withHistory } from './metrics/history.ts';
import { createMetrics } from './metrics/metrics.ts';
import { startTracing, withTracing } from './metrics/tracing.ts';
import { createBrowserCheck } from './tools/browser/check.ts';
import { createTools } from './tools/index.ts';

export interface AppParts {
  config: Config;
  /** Where each setting came from, by the variable's name. */
  sources: SettingSources;
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
  /** Waits until no call is under way and no job runs, at most `graceMs`, then ends those that are. */
  settle(graceMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Puts the parts together. @throws ToolError when the audit log cannot be opened */
export async function createApp(parts: AppParts): Promise<App> {
  const { config, sources, privateKey, secrets, redact, path, log } = parts;
  const { secret, previousSecret } = config.server;
  const { consoleEnabled } = config.server;
  const trail = consoleEnabled && config.audit.enabled ? createTrail() : undefined;
  trail?.restore(await readTail(config.audit.path));
  const audit = config.audit.enabled
    ? await openAuditLog({
        ...config.audit,
        secret,
        previousSecrets: [previousSecret],
        redact,
        ...(trail && { onWritten: (lines) => trail.written(lines) }),
      })
    : noAudit;
  const mesh = createMesh(config.mesh);
  const codeHost = createCodeHost(config.codeHost);
  const { tools, ssh, browser } = createTools({
    settings: config,
    mesh,
    codeHost,
    privateKey,
    secrets,
    path,
    log,
  });
  const history = createHistory();
  const { traceEndpoint } = config.server;
  const tracing = traceEndpoint === '' ? undefined : await startTracing(traceEndpoint, SERVER_NAME, VERSION);
  const metrics = withTracing(withHistory(createMetrics(), history), tracing);
  metrics.gauge('jobs_running', 'Commands that run as jobs.', () => ssh.jobs.running());
  metrics.gauge('ssh_connections', 'Open SSH connections.', () => ssh.connections());
  metrics.gauge('ssh_commands_unfinished', 'Commands still being ended after their calls.', () =>
    ssh.unfinished(),
  );
  metrics.gauge('browser_sessions', 'Open browser sessions.', () => browser.sessions());
  for (const allowance of ['core', 'search', 'code_search', 'graphql'] as const) {
    metrics.gauge(
      `code_host_${allowance}_remaining`,
      `Requests left of the code host’s allowance "${allowance}", as it told last.`,
      () => codeHost.remaining(allowance),
    );
  }
  const gate = createGate({ tools, audit, metrics, redact, limits: config.limits, log });
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
  const operatorPage = createConsole({
    ...config.server,
    authenticated: createAuthenticator(secret, previousSecret),
    clientAddress: createClientAddress(config.server.trustedProxies),
    tools: tools.map(({ name }) => name),
    mesh,
    health,
    history,
    jobs: ssh.jobs,
    trail,
    record: (record) => audit.appendDurable(record),
    settings: () => describeSettings(config, sources),
    redact,
    log,
  });
  const router = createRouter({
    settings: config.server,
    mcp,
    health,
    metrics,
    log,
    ...(consoleEnabled && { console: operatorPage }),
  });

  return {
    fetch: router.fetch,
    async settle(graceMs) {
      await Promise.all([gate.settle(graceMs), ssh.settle(graceMs)]);
    },
    async close() {
      await mcp.close();
      await Promise.all(tools.map((tool) => tool.close()));
      await codeHost.close();
      await tracing?.close();
      await audit.close();
    },
  };
}
