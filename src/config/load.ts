import { messageOf } from '../core/errors.ts';
import type { Setting } from '../core/setting.ts';
import { createRedactor } from '../gate/redact.ts';
import { createMesh } from '../mesh/client.ts';
import { allSettings, type Config, settingGroups } from './schema.ts';
import { parseYaml } from './yaml.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a setting that is not left at its default came from, by the variable's name. */
export type SettingSources = Map<string, 'environment' | 'file'>;

export interface Loaded {
  config: Config;
  sources: SettingSources;
  /** Secrets by the name of the variable that holds each; all of them are redacted from what leaves the process. */
  secrets: ReadonlyMap<string, string>;
  /** What is odd but lets the server start. */
  warnings: string[];
}

/** All that is wrong with the configuration, one sentence each. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

const SHORT_SECRET = 32;
/** How variables are named, and hardly any token. */
const NAME = /^[A-Z][A-Z_]*[A-Z0-9_]{0,20}$/;
const UNSAFE_IN_URL = /[^A-Za-z0-9._~-]/;

/**
 * Defaults < YAML < environment.
 * @param yamlText the YAML file's text, undefined where there is no file
 * @throws ConfigError naming every fault at once, never a value
 */
export function loadConfig(env: Environment, yamlText?: string, yamlName = 'service.config.yaml'): Loaded {
  const faults: string[] = [];
  const missing: string[] = [];
  const yaml =
    yamlText === undefined ? new Map<string, unknown>() : parseYaml(yamlText, yamlName, yamlKeys(), faults);
  const secrets = new Map<string, string>();
  const sources = new Map<string, 'environment' | 'file'>();
  const groups: Record<string, Record<string, unknown>> = Object.fromEntries(
    Object.keys(settingGroups).map((name) => [name, {}]),
  );

  for (const [group, name, setting] of allSettings()) {
    const text = env[setting.env];
    // An empty variable is an unset one: `.env` templates and compose files write `NAME=` for "nothing here".
    const given = text !== undefined && text !== '';
    if (!given && setting.required) {
      missing.push(setting.env);
      continue;
    }
    const value = given ? fromEnvironment(setting, text, faults) : fromFile(setting, yaml, yamlName, faults);
    (groups[group] as Record<string, unknown>)[name] = value;
    if (given) sources.set(setting.env, 'environment');
    else if (setting.yaml !== undefined && yaml.has(setting.yaml)) sources.set(setting.env, 'file');
    if (setting.secret && typeof value === 'string' && value !== '') secrets.set(setting.env, value);
  }

  if (missing.length > 0) faults.unshift(`Missing required environment variables: ${missing.join(', ')}`);
  if (faults.length > 0) throw new ConfigError(withoutSecrets(faults, env));
  const config = groups as unknown as Config;
  addInjectedTokens(config, env, secrets, faults);
  try {
    createMesh(config.mesh);
  } catch (error) {
    // What the provider's settings need of each other is known to the client alone.
    faults.push(messageOf(error));
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return { config, sources, secrets, warnings: warningsOf(config) };
}

/** What is pasted into the wrong setting is shown with its fault; one of the secrets must not be. */
function withoutSecrets(faults: readonly string[], env: Environment): string[] {
  const secrets = allSettings().flatMap(([, , { env: name, secret }]) =>
    secret ? [[name, env[name] ?? ''] as const] : [],
  );
  return faults.map(createRedactor(new Map(secrets)));
}

function yamlKeys(): string[] {
  return allSettings().flatMap(([, , setting]) => (setting.yaml === undefined ? [] : [setting.yaml]));
}

function fromEnvironment(setting: Setting<unknown>, text: string, faults: string[]): unknown {
  if (/^(["']).*\1$/s.test(text)) {
    faults.push(`${setting.env} is wrapped in quotes; write the value without them`);
    return undefined;
  }
  try {
    return setting.fromText(text);
  } catch (error) {
    faults.push(`${setting.env}: ${messageOf(error)}${got(setting, text)}`);
    return undefined;
  }
}

function fromFile(
  setting: Setting<unknown>,
  yaml: ReadonlyMap<string, unknown>,
  yamlName: string,
  faults: string[],
): unknown {
  if (setting.yaml === undefined || !yaml.has(setting.yaml)) return setting.fallback;
  try {
    return setting.fromYaml(yaml.get(setting.yaml));
  } catch (error) {
    faults.push(`${yamlName}: ${setting.yaml}: ${messageOf(error)}`);
    return undefined;
  }
}

function got(setting: Setting<unknown>, text: string): string {
  return setting.secret ? '' : `, got "${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`;
}

/** The variables that FETCH_EXTERNAL_TOKEN_MAP names hold secrets too, and must exist. */
function addInjectedTokens(
  config: Config,
  env: Environment,
  secrets: Map<string, string>,
  faults: string[],
): void {
  for (const [domain, entry] of Object.entries(config.fetch.tokenMap)) {
    const name = typeof entry === 'string' ? entry : entry.env;
    const value = env[name];
    if (value === undefined || value === '') {
      // Who puts the token itself here would find it in the log.
      const shown = NAME.test(name)
        ? `the variable ${name}`
        : 'a variable (not shown: it looks like a token)';
      faults.push(`FETCH_EXTERNAL_TOKEN_MAP: ${domain} names ${shown}, which is not set`);
    } else {
      secrets.set(name, value);
    }
  }
}

function warningsOf(config: Config): string[] {
  const warnings: string[] = [];
  const { secret } = config.server;
  if (secret.length < SHORT_SECRET) {
    warnings.push(
      `MCP_SECRET has ${secret.length} characters; use 64 hexadecimal ones (openssl rand -hex 32).`,
    );
  }
  if (UNSAFE_IN_URL.test(secret)) {
    warnings.push(
      'MCP_SECRET holds characters that must be percent-encoded in a URL; some clients do not. Use hexadecimal ones.',
    );
  }
  if (config.fetch.allowedDomains.length === 0) {
    warnings.push('PROXY_ALLOWED_DOMAINS is empty: every fetch_external call will be refused.');
  }
  if (config.server.previousSecret !== '') {
    warnings.push(
      'MCP_SECRET_PREVIOUS is set: the old secret is still accepted. Empty it to end the rotation.',
    );
  }
  if (!config.audit.enabled) warnings.push('AUDIT_ENABLED is false: no call is recorded.');
  return warnings;
}
