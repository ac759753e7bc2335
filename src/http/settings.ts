import { setting, type SettingsOf } from '../core/setting.ts';

export const serverSettings = {
  secret: setting.requiredSecret({
    env: 'MCP_SECRET',
    meaning: 'Shared secret the client sends with every request; 64 hex characters are suggested.',
  }),
  previousSecret: setting.string({
    env: 'MCP_SECRET_PREVIOUS',
    default: '',
    secret: true,
    meaning: 'The secret before a rotation; clients may still send it until this is emptied.',
  }),
  port: setting.integer({ env: 'PORT', default: 3000, min: 1, max: 65535, meaning: 'Listening port.' }),
  host: setting.string({
    env: 'LISTEN_HOST',
    default: '0.0.0.0',
    pattern: /^[0-9A-Za-z.:-]+$/,
    expected: 'an address to listen on',
    meaning: 'Listening address; plain HTTP, so anything but loopback belongs behind the reverse proxy.',
  }),
  publicHost: setting.string({
    env: 'PUBLIC_HOST',
    default: 'localhost',
    pattern: /^[A-Za-z0-9.-]+$/,
    expected: 'a hostname, without scheme, port or path',
    example: 'mcp.example.org',
    meaning: 'Public hostname; Caddy gets a certificate for it, and its own pages may call the server.',
  }),
  allowedOrigins: setting.list({
    env: 'ALLOWED_ORIGINS',
    default: [],
    pattern: /^https?:\/\/[^/\s]+$/,
    expected: 'a comma-separated list of origins (scheme://host[:port])',
    example: 'https://inspector.example.org',
    meaning: 'Web origins, besides the public host, whose pages may call the server.',
  }),
  trustedProxies: setting.list({
    env: 'TRUSTED_PROXIES',
    default: [],
    pattern: /^[A-Za-z0-9.:/_-]+$/,
    expected: 'a comma-separated list of addresses, CIDR ranges or host names',
    example: 'caddy,10.0.0.0/8',
    meaning: 'Reverse proxies whose X-Forwarded-For names the client; from any other peer it is ignored.',
  }),
  consoleEnabled: setting.boolean({
    env: 'CONSOLE_ENABLED',
    default: true,
    meaning: 'Serves the operator’s page at /console.',
  }),
  traceEndpoint: setting.string({
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    default: '',
    pattern: /^(https?:\/\/\S+)?$/,
    expected: 'an http or https URL',
    example: 'http://collector:4318',
    meaning: 'An OpenTelemetry collector (OTLP over HTTP) that gets a trace span for each call.',
  }),
  runAs: setting.string({
    env: 'RUN_AS',
    default: '',
    pattern: /^([1-9]\d*:[1-9]\d*)?$/,
    expected: 'uid:gid, both numbers above 0',
    example: '10001:10001',
    meaning: 'Who a server started as root becomes once it has read the SSH key; the image sets it.',
  }),
  configPath: setting.string({
    env: 'SERVICE_CONFIG_PATH',
    default: './service.config.yaml',
    meaning: 'The YAML file; when there is none, the defaults and the environment count.',
  }),
};

export type ServerSettings = SettingsOf<typeof serverSettings>;
