import { isIP } from 'node:net';

import { createCodeHost } from '../codehost/client.ts';
import type { Loaded } from '../config/load.ts';
import { allSettings } from '../config/schema.ts';
import { createRedactor, redactValue } from '../gate/redact.ts';
import { createMesh } from '../mesh/client.ts';
import { checkCodeHost, checkMesh } from './doctor/accounts.ts';
import { checkAudit, checkDisk } from './doctor/audit.ts';
import { checkBrowserCli, checkCdp, checkContainment } from './doctor/browser.ts';
import { checkCertificate } from './doctor/certificate.ts';
import { checkClock } from './doctor/clock.ts';
import { checkConfiguration, checkSecret } from './doctor/configuration.ts';
import { type Check, type Finding, LONGEST_MS, lineOf, settle, warn } from './doctor/report.ts';
import { checkDevices, checkKey, checkKnownHosts } from './doctor/ssh.ts';
import type { KeyFile } from './privileges.ts';

export interface DoctorOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Reads the YAML file; undefined where there is none. */
  readYaml: () => { name: string; text: string } | undefined;
  key: KeyFile;
  /** What is odd about how the process was started. */
  warnings: readonly string[];
  /** One array of findings instead of lines. */
  json: boolean;
  write: (text: string) => void;
}

/** For an API's answer; less than a check's time, so that the client's own words on a silence are heard. */
const API_MS = LONGEST_MS - 500;

/**
 * Looks at everything that the server depends on, beside a server that runs or without one; changes nothing.
 * Resolves with the exit code: 1 where something failed.
 */
export async function runDoctor(options: DoctorOptions): Promise<0 | 1> {
  const { env, readYaml, key, warnings, json, write } = options;
  const { loaded, findings } = checkConfiguration(env, readYaml);
  const redact = createRedactor(loaded?.secrets ?? secretsOf(env));
  const all: Finding[] = [];
  const report = (found: readonly Finding[]) => {
    for (const finding of found) {
      const clean = redactValue(finding, redact) as Finding;
      all.push(clean);
      if (!json) write(`${lineOf(clean)}\n`);
    }
  };

  report([...findings, ...warnings.map((text) => warn('process', text))]);
  if (loaded) {
    // All at once, told in order.
    for (const outcome of examine(loaded, options)) report(await outcome);
  } else {
    report([await checkKey(key)]);
    report([warn('all else', 'not looked at', 'Mend the configuration, then run the doctor again.')]);
  }
  if (json) write(`${JSON.stringify(all, null, 2)}\n`);
  return all.some(({ status }) => status === 'fail') ? 1 : 0;
}

/** The secrets of a configuration that cannot be loaded. */
function secretsOf(env: DoctorOptions['env']): Map<string, string> {
  const names = allSettings().flatMap(([, , setting]) => (setting.secret ? [setting.env] : []));
  return new Map(names.map((name) => [name, env[name] ?? '']));
}

/** Every check that needs the configuration, each on its own and all under way. */
function examine({ config }: Loaded, { env, key }: DoctorOptions): Promise<Finding[]>[] {
  const { server, mesh: meshSettings, codeHost: codeHostSettings, ssh, browser, audit } = config;
  const mesh = createMesh(meshSettings, { timeoutMs: API_MS });
  // Not closed: the process ends with the report, and the other checks need not wait for its idle connection.
  const codeHost = createCodeHost(codeHostSettings, { timeoutMs: API_MS });
  // One answer for both that ask, from the client's cache.
  const devices = () => mesh.devices(AbortSignal.timeout(LONGEST_MS));
  const privateKey = key.state === 'read' ? key.text : undefined;
  const apis = [codeHostSettings.apiUrl, ...(meshSettings.apiUrl === '' ? [] : [meshSettings.apiUrl])];
  const proxies = server.trustedProxies.filter((entry) => isIP(entry.split('/')[0] ?? '') === 0);
  const doors = [...proxies, server.publicHost].map((host) => `${host}:443`);

  const checks: Check[] = [
    { name: 'secret', run: async () => checkSecret(server.secret) },
    { name: 'SSH key', run: () => checkKey(key) },
    { name: 'SSH host keys', run: () => checkKnownHosts(ssh) },
    { name: 'mesh API', run: () => checkMesh(meshSettings.provider, devices) },
    { name: 'code host', run: (signal) => checkCodeHost(codeHost, signal) },
    { name: 'browser CLI', run: (signal) => checkBrowserCli(env['PATH'], signal) },
    { name: 'browser', run: (signal) => checkCdp(browser, signal) },
    { name: 'browser containment', run: (signal) => checkContainment(browser, server.port, signal) },
    { name: 'audit', run: () => checkAudit(audit, [server.secret, server.previousSecret]) },
    { name: 'disk space', run: () => checkDisk(audit) },
    { name: 'clock', run: (signal) => checkClock(apis, signal) },
    { name: 'TLS certificate', run: () => checkCertificate(server.publicHost, doors) },
  ];
  // Not a check among the others: each device has a time of its own.
  return [...checks.map(settle), checkDevices({ settings: ssh, devices, privateKey })];
}
