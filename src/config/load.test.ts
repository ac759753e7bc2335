import { describe, expect, it } from 'vitest';

import { ConfigError, loadConfig } from './load.ts';

const SECRET = '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef';
const REQUIRED = { MCP_SECRET: SECRET, MESH_API_KEY: 'mesh-key-1', CODE_HOST_TOKEN: 'host-token-1' };
const FULL = { ...REQUIRED, PROXY_ALLOWED_DOMAINS: 'api.example.org' };

function faultsOf(env: Record<string, string>, yaml?: string): readonly string[] {
  try {
    loadConfig(env, yaml);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe('defaults', () => {
  it('are those of the specification', () => {
    const { config, warnings } = loadConfig(FULL);
    expect(config.server.port).toBe(3000);
    expect(config.ssh.dryRun).toBe(false);
    expect(config.audit).toEqual({
      enabled: true,
      path: './service-audit.log',
      maxBytes: 67_108_864,
      keepFiles: 10,
    });
    expect(config.ssh.blockedCommands).toEqual([]);
    expect(config.ssh.allowedDirs).toEqual([]);
    expect(config.fetch.tokenMap).toEqual({});
    expect(config.browser).toMatchObject({ cdpHost: '127.0.0.1', cdpPort: 9222 });
    expect(warnings).toEqual([]);
  });
});

describe('what is required', () => {
  it('is reported missing with all names in one message', () => {
    expect(faultsOf({})).toEqual([
      'Missing required environment variables: MCP_SECRET, MESH_API_KEY, CODE_HOST_TOKEN',
    ]);
  });

  it('counts an empty variable as missing', () => {
    expect(faultsOf({ ...FULL, MESH_API_KEY: '' })).toEqual([
      'Missing required environment variables: MESH_API_KEY',
    ]);
  });

  it('keeps the secret to the letter, trailing white space included', () => {
    expect(loadConfig({ ...FULL, MCP_SECRET: `${SECRET} ` }).config.server.secret).toBe(`${SECRET} `);
  });
});

describe('precedence', () => {
  const yaml =
    'ssh:\n  blocked_commands: [rm -rf]\n  allowed_dirs: [/srv]\naudit:\n  enabled: false\n  log_path: /var/log/a.log\ndry_run: true\n';

  it('takes YAML over the defaults', () => {
    const { config } = loadConfig(FULL, yaml);
    expect(config.ssh).toMatchObject({
      blockedCommands: ['rm -rf'],
      allowedDirs: ['/srv'],
      dryRun: true,
    });
    expect(config.audit).toMatchObject({ enabled: false, path: '/var/log/a.log' });
  });

  it('takes the environment over YAML', () => {
    const { config } = loadConfig(
      {
        ...FULL,
        SSH_BLOCKED_COMMANDS: 'dd, mkfs',
        SSH_ALLOWED_DIRS: '/home',
        DRY_RUN: 'false',
        AUDIT_ENABLED: 'true',
        AUDIT_LOG_PATH: '/tmp/b.log',
      },
      yaml,
    );
    expect(config.ssh).toMatchObject({
      blockedCommands: ['dd', 'mkfs'],
      allowedDirs: ['/home'],
      dryRun: false,
    });
    expect(config.audit).toMatchObject({ enabled: true, path: '/tmp/b.log' });
  });
});

describe('faults', () => {
  it('are reported all at once, by name, with what was expected', () => {
    expect(
      faultsOf({
        MCP_SECRET: SECRET,
        PORT: 'http',
        DRY_RUN: 'yes',
        SSH_ALLOWED_DIRS: 'srv/app',
        PROXY_ALLOWED_DOMAINS: 'https://api.example.org/v1',
        FETCH_EXTERNAL_TOKEN_MAP: '{"a.example.org":',
      }),
    ).toEqual([
      'Missing required environment variables: MESH_API_KEY, CODE_HOST_TOKEN',
      'PORT: expected a whole number from 1 to 65535, got "http"',
      'SSH_ALLOWED_DIRS: expected a comma-separated list of absolute directories, got "srv/app"',
      'DRY_RUN: expected true or false, got "yes"',
      'PROXY_ALLOWED_DOMAINS: expected a comma-separated list of hostnames, without scheme, port or path, got "https://api.example.org/v1"',
      'FETCH_EXTERNAL_TOKEN_MAP: expected a JSON object that maps a domain to the name of an environment variable; this is not valid JSON, got "{"a.example.org":"',
    ]);
  });

  it('names a quoted value and does not echo a secret', () => {
    const faults = faultsOf({ ...FULL, MCP_SECRET: `"${SECRET}"`, PORT: "'3000'" });
    expect(faults).toEqual([
      'MCP_SECRET is wrapped in quotes; write the value without them',
      'PORT is wrapped in quotes; write the value without them',
    ]);
  });

  it('shows no secret that was put in the wrong place', () => {
    // Pasted into the next line of .env, the token of a host would otherwise stand in the log of each start.
    expect(
      faultsOf({ ...FULL, PORT: SECRET, FETCH_EXTERNAL_TOKEN_MAP: `{"a.example.org":${SECRET}` }),
    ).toEqual([
      'PORT: expected a whole number from 1 to 65535, got "[redacted MCP_SECRET]…"',
      'FETCH_EXTERNAL_TOKEN_MAP: expected a JSON object that maps a domain to the name of an environment variable; this is not valid JSON, got "{"a.example.org":[redacted MCP_SECRET]…"',
    ]);
    expect(
      faultsOf({ ...FULL, FETCH_EXTERNAL_TOKEN_MAP: '{"a.example.org":"ghp_Q3x8nVbT0yLm2KpR"}' }),
    ).toEqual([
      'FETCH_EXTERNAL_TOKEN_MAP: a.example.org names a variable (not shown: it looks like a token), which is not set',
    ]);
  });

  it('names the line and column of YAML that does not parse', () => {
    const faults = faultsOf(FULL, 'ssh:\n  blocked_commands: [rm, dd\ndry_run: true\n');
    expect(faults[0]).toMatch(/^service\.config\.yaml: line \d+, column \d+ /);
  });

  it('names an unknown YAML key and the known ones', () => {
    expect(faultsOf(FULL, 'ssh:\n  blocked: [dd]\n')).toEqual([
      'service.config.yaml: unknown key ssh.blocked; the known ones are limits.concurrent_calls, limits.concurrent_calls_by_tool, limits.calls_per_minute, limits.calls_per_minute_by_tool, ssh.blocked_commands, ssh.allowed_dirs, dry_run, fetch.allowed_domains, fetch.allow_private_domains, audit.enabled, audit.log_path, audit.max_bytes, audit.keep_files',
    ]);
  });

  it('names a YAML value of the wrong type', () => {
    expect(faultsOf(FULL, 'dry_run: maybe\nssh:\n  blocked_commands: dd\naudit: 3\n')).toEqual([
      'service.config.yaml: audit: expected a mapping',
      'service.config.yaml: ssh.blocked_commands: expected a list of strings',
      'service.config.yaml: dry_run: expected true or false',
    ]);
  });

  it('accepts an empty YAML file and empty sections', () => {
    expect(faultsOf(FULL, '')).toEqual([]);
    expect(faultsOf(FULL, 'ssh:\naudit:\n')).toEqual([]);
  });

  it('names what a provider’s settings need of each other', () => {
    expect(faultsOf({ ...FULL, MESH_PROVIDER: 'headscale' })).toEqual([
      'MESH_API_URL must be set for headscale.',
    ]);
  });

  it('names a variable that the token map wants and nobody set', () => {
    expect(faultsOf({ ...FULL, FETCH_EXTERNAL_TOKEN_MAP: '{"api.example.org":"API_TOKEN"}' })).toEqual([
      'FETCH_EXTERNAL_TOKEN_MAP: api.example.org names the variable API_TOKEN, which is not set',
    ]);
  });
});

describe('secrets', () => {
  it('include the tokens that the token map names', () => {
    const { secrets } = loadConfig({
      ...FULL,
      API_TOKEN: 'tok-1234',
      FETCH_EXTERNAL_TOKEN_MAP: '{"api.example.org":"API_TOKEN"}',
    });
    expect(Object.fromEntries(secrets)).toEqual({ ...REQUIRED, API_TOKEN: 'tok-1234' });
  });
});

describe('warnings', () => {
  it('tell of a short secret, one that is unsafe in a URL, an empty allowlist and an audit that is off', () => {
    const { warnings } = loadConfig({ ...REQUIRED, MCP_SECRET: 'p&ss', AUDIT_ENABLED: 'false' });
    expect(warnings).toEqual([
      'MCP_SECRET has 4 characters; use 64 hexadecimal ones (openssl rand -hex 32).',
      'MCP_SECRET holds characters that must be percent-encoded in a URL; some clients do not. Use hexadecimal ones.',
      'PROXY_ALLOWED_DOMAINS is empty: every fetch_external call will be refused.',
      'AUDIT_ENABLED is false: no call is recorded.',
    ]);
  });
});
