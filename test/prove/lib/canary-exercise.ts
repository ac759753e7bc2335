import { container, docker, inside, secureFetch, stack } from '../../support/stack.ts';
import { tries } from '../row.ts';
import { offerSettings } from './settings-file.ts';

interface Fault {
  status?: number;
  body?: unknown;
  hang?: boolean;
  reset?: boolean;
  cut?: boolean;
}

/** Everything that came back to a client, an operator or a scraper, by where it came from. */
export type Told = Map<string, string>;

/** Forgets what was to fail, and has the next requests to a stand-in fail so. */
const fail = (api: string, next: Fault[]): Promise<string> =>
  inside(
    'demo-apis',
    `node -e "const ask=(path,body)=>fetch('http://127.0.0.1:8080/_control/'+path,{method:'POST',headers:{'content-type':'application/json'},body});ask('reset').then(()=>ask('faults',process.argv[1])).then(r=>process.exit(r.ok?0:1))" '${JSON.stringify({ api, next })}'`,
    '1000',
  );

const wellOrNot = (run: Promise<string>): Promise<string> =>
  run.catch((error: { stdout?: string; stderr?: string }) => `${error.stdout ?? ''}${error.stderr ?? ''}`);

/**
 * Has every part of the service at work once, well and badly, with its secrets in the way wherever one can be put.
 * @param secrets the values, by name
 * @returns all that was answered
 */
export async function exercise(secrets: Record<string, string>): Promise<Told> {
  const told: Told = new Map();
  let n = 0;
  async function ask(what: string, path: string, init: RequestInit = {}): Promise<Response> {
    const response = await secureFetch(`${stack.base}${path}`, { redirect: 'manual', ...init });
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    told.set(`${++n} ${what}`, `${headers}\n\n${await response.clone().text()}`);
    return response;
  }
  const json = { 'content-type': 'application/json', authorization: `Bearer ${stack.secret}` };
  const call = (tool: string, args: object, headers: Record<string, string> = {}) =>
    // Arguments stay out of the name: a failure is published with it.
    ask(`${tool.split('-')[0]} ${Object.keys(args).join()}`, '/mcp', {
      method: 'POST',
      headers: { ...json, ...headers },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: tool, arguments: args, _meta: { progressToken: 1 } },
      }),
    });
  const all = Object.values(secrets).join(' ');

  // Each tool: well, refused, and with the secrets among its arguments.
  for (const device of ['web-1', 'db-1']) await call('ssh_exec', { device, command: 'id; env' });
  await call('ssh_exec', { device: 'web-1', command: `echo '${all}'; echo '${all}' >&2; exit 3` });
  await call('ssh_exec', { device: 'web-1', command: 'cat', stdin: all });
  await call('ssh_exec', { device: 'web-1', command: `mkfs ${all}` });
  await call('ssh_exec', { device: all, command: 'id' });
  await call('ssh_exec', { device: 'laptop-1', command: 'id' });
  await call('ssh_exec', { device: 'web-1', command: 'sleep 30', timeout_seconds: 1 });
  await call('ssh_exec', { device: 'web-1', command: `echo '${all}'; sleep 2`, wait_seconds: 1 });
  await call(
    'ssh_exec',
    { device: 'web-1', command: `echo '${all}'; sleep 1` },
    { accept: 'application/json, text/event-stream' },
  );
  await call('ssh_exec', { job: 'list' });
  await call('ssh_exec', { job: all });
  await call('mesh_status', {});
  await call('mesh_status', { device: all });
  await call('fetch_external', { url: 'http://demo-site/', headers: { 'x-api-key': all } });
  await call('fetch_external', { url: `http://demo-site/${encodeURIComponent(all)}` });
  await call('fetch_external', { url: `https://elsewhere.example/?q=${encodeURIComponent(all)}` });
  // The host with a token of its own; its name does not resolve.
  await call('fetch_external', { url: 'https://canary.example/', timeout_seconds: 5 });
  await call('code_search', { query: 'backup' });
  await call('code_search', { query: all });
  await call('snippet_kb', { action: 'list' });
  await call('snippet_kb', { action: 'search', query: all });
  await call('snippet_kb', { action: 'get', id: all });
  await call('browser', { action: 'open', session: 'canary', url: 'http://demo-site/' });
  await call('browser', { action: 'eval', session: 'canary', script: `console.log('${all}'); '${all}'` });
  await call('browser', { action: 'console', session: 'canary' });
  await call('browser', {
    action: 'open',
    session: 'canary',
    url: `http://demo-site/?q=${encodeURIComponent(all)}`,
  });
  await call('browser', { action: 'open', session: 'canary', url: 'http://demo-apis:8080/' });
  await call('browser', { action: 'fill', session: all, ref: all, value: all });
  // Longer than what is kept of it: a cut within a secret is not to save the rest of it.
  await call(`tool-${all}`, { x: `${'x'.repeat(2_000)}${all}` });

  // The outside systems refuse, fail, and say the credential back.
  for (const [api, tool, args] of [
    ['code_host', 'code_search', { query: 'canary' }],
    ['code_host', 'snippet_kb', { action: 'list' }],
    // Last, when what was known of the devices is old enough to be asked for again.
    ['mesh', 'mesh_status', {}],
  ] as const) {
    const faults: Fault[] = [
      { status: 401, body: { message: `no: ${all}` } },
      { status: 500 },
      { status: 403, body: { message: `no: ${all}` } },
      { status: 502, body: `<html>${all}</html>` },
      { status: 200, body: `not JSON ${all}` },
      { reset: true },
      { cut: true },
    ];
    for (const fault of faults.slice(0, tries(7, 2))) {
      await fail(api, Array<Fault>(3).fill(fault));
      await call(tool, args);
    }
  }
  await fail('mesh', []);

  // Requests that are malformed, and credentials that are nearly right or stand in the wrong place.
  const near = stack.secret.slice(0, -1);
  for (const path of [
    `/mcp?token=${near}`,
    `/mcp?token=${stack.secret}&token=${near}`,
    `/mcp?%74oken=${stack.secret}`,
    `/mcp?Token=${stack.secret}`,
    `/mcp;token=${stack.secret}`,
    `/.well-known/oauth-protected-resource/mcp?token=${stack.secret}`,
    `/${stack.secret}`,
    `/health?token=${stack.secret}&verbose=1`,
    `/metrics?token=${stack.secret}`,
    `/health?token=${secrets['MCP_SECRET_PREVIOUS'] ?? ''}`,
    '/health',
  ]) {
    await ask(`GET ${path.slice(0, 12)}`, path, {
      headers: { referer: `${stack.base}/mcp?token=${stack.secret}` },
    });
  }
  for (const headers of [
    { authorization: `Bearer ${near}` },
    { authorization: `Basic ${Buffer.from(`x:${stack.secret}`).toString('base64')}` },
    { 'x-api-key': stack.secret, authorization: `Bearer ${near}` },
    { cookie: `token=${stack.secret}`, 'user-agent': stack.secret },
    { 'x-forwarded-for': stack.secret, 'x-api-key': stack.secret },
  ]) {
    await ask('POST with other credentials', '/mcp', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{}',
    });
  }
  for (const body of [
    '{',
    `{"${all}":`,
    '[]',
    `"${all}"`,
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: all }),
  ]) {
    await ask('POST of nonsense', '/mcp', { method: 'POST', headers: json, body });
  }

  // The operator's ways.
  const login = await ask('console sign-in', '/console', {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: stack.base,
      'sec-fetch-site': 'same-origin',
    },
    body: new URLSearchParams({ token: stack.secret }).toString(),
  });
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  for (const path of [
    '/console',
    `/console?q=${encodeURIComponent(all)}`,
    '/console/live',
    `/console?token=${near}`,
  ]) {
    await ask(`GET ${path.slice(0, 12)}`, path, { headers: { cookie } });
  }
  await offerSettings(`ssh:\n  blocked_commands: ${all}: [\nlimits: {x: ${all}}\n`);
  const server = ['exec', container('server'), 'remote-tool-server'];
  const commands = [
    'audit tail --json -n 500',
    'audit verify',
    'audit tail -n 500',
    'doctor',
    'doctor --json',
    'health',
    all.slice(0, 40),
  ];
  for (const command of commands.slice(0, tries(7, 2))) {
    told.set(
      `remote-tool-server ${command.split(all.slice(0, 40)).join('…')}`,
      await wellOrNot(docker(...server, ...command.split(' '))),
    );
  }
  // Starts that fail: every fault is told, and no value.
  for (const fault of [
    { MCP_SECRET: `"${stack.secret}"` },
    { FETCH_EXTERNAL_TOKEN_MAP: all, MCP_SECRET: stack.secret },
  ]) {
    const env = Object.entries({
      MESH_API_KEY: stack.meshKey,
      CODE_HOST_TOKEN: stack.codeHostToken,
      PORT: '0',
      ...fault,
    });
    const options = env.flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    told.set(
      `a start with a wrong ${Object.keys(fault)[0]}`,
      await wellOrNot(
        docker('run', '--rm', '--network', 'none', ...options, 'remote-tool-server/server:0.1.0'),
      ),
    );
  }
  return told;
}
