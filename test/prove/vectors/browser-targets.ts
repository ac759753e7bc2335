/** Where things are in a lab, as the engine says. */
export interface Places {
  server: string;
  chromium: string;
  egress: string;
  caddy: string;
  /** The site by an address that the operator did not allow, and by its address on the mesh. */
  site: string;
  mesh: string;
  /** The engine's own address on the networks of the proxy, the server and all containers. */
  gateways: readonly string[];
  /** The port on which Caddy is published. */
  httpsPort: string;
}

const octets = (address: string) => address.split('.').map(Number);
const decimal = (address: string) => octets(address).reduce((sum, octet) => sum * 256 + octet, 0);

/**
 * What no page may reach. Each class has been a way in elsewhere: debugging ports and loopback (CVE-2025-9611), services
 * behind a firewall reached by a page (CVE-2025-49596), metadata services, and addresses written so that a check which
 * compares texts passes them (CVE-2026-49857, CVE-2025-65512).
 */
export function targetsOf(at: Places): string[] {
  const written = (address: string, port: number) =>
    [
      address,
      String(decimal(address)),
      `0x${decimal(address).toString(16)}`,
      octets(address)
        .map((octet) => `0${octet.toString(8)}`)
        .join('.'),
      `[::ffff:${address}]`,
      `[64:ff9b::${address}]`,
      `[2002:${decimal(address)
        .toString(16)
        .padStart(8, '0')
        .replace(/(.{4})(.{4})/, '$1:$2')}::1]`,
    ].map((host) => `http://${host}:${port}/`);
  return [
    // The debugging port, from within and over its relay.
    'http://127.0.0.1:9223/json/version',
    'http://127.0.0.1:9222/json/version',
    'http://localhost:9223/json/version',
    'http://localhost.:9223/json/version',
    'http://a.localhost:9223/json/version',
    'http://[::1]:9223/json/version',
    'http://0.0.0.0:9223/json/version',
    'http://0:9223/json/version',
    'http://127.1:9223/json/version',
    'http://127.255.255.254:9223/json/version',
    'http://①②⑦.0.0.1:9223/json/version',
    'http://[::]:9223/json/version',
    'http://chromium:9222/json/version',
    'http://cdp:9222/json/version',
    `http://${at.chromium}:9222/json/version`,
    `http://${at.chromium}:9223/json/version`,
    // This server, its door, and the proxy's own pages.
    'http://server:3000/health',
    ...written(at.server, 3000),
    'http://caddy/',
    'https://caddy/',
    `http://${at.caddy}/`,
    `https://${at.caddy}/`,
    `http://${at.egress}:3128/`,
    'http://egress:3128/squid-internal-mgr/menu',
    'http://localhost:3128/squid-internal-mgr/menu',
    ...at.gateways.flatMap((gateway) => [`http://${gateway}/`, `https://${gateway}:${at.httpsPort}/health`]),
    // Devices of the mesh: by name, by address, and by a port of theirs.
    ...[22, 80, 443, 3000, 8080, 9222].flatMap((port) => [
      `http://web-1:${port}/`,
      `http://${at.mesh}:${port}/`,
    ]),
    'http://db-1/',
    'https://db-1/',
    ...written(at.mesh, 80),
    'http://100.100.100.100/',
    'http://[fd7a:115c:a1e0::1]/',
    // The site by what the operator did not name.
    'http://hidden/',
    'http://hidden.:80/',
    'https://hidden/',
    'http://hidden:3478/',
    'http://private.test/',
    'http://both.test/',
    ...written(at.site, 80),
    // Where clouds hand out credentials.
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:169.254.169.254]/latest/meta-data/',
    'http://2852039166/latest/meta-data/',
    'http://169.254.170.2/v2/credentials',
    'http://100.100.100.200/latest/meta-data/',
    'http://168.63.129.16/',
    'http://192.0.0.192/',
    'http://[fd00:ec2::254]/latest/meta-data/',
    'http://metadata.google.internal/',
    // Other people's networks.
    'http://10.0.0.1/',
    'http://192.168.0.1/',
    'http://172.16.0.1/',
    'http://[fe80::1]/',
    'http://[fd00::1]/',
    'http://224.0.0.251/',
    'http://255.255.255.255/',
  ];
}

/** Addresses that lead to no web server at all, but to files, to the browser's own pages, or to a script. */
export const LOCAL_URLS = [
  'file:///etc/passwd',
  'file://localhost/etc/passwd',
  'file:///proc/self/environ',
  'file:/etc/passwd',
  'FILE:///etc/passwd',
  ' file:///etc/passwd',
  'view-source:file:///etc/passwd',
  'view-source:http://pages/',
  'view-source:http://127.0.0.1:9223/json/version',
  'chrome://version/',
  'chrome://settings/',
  'chrome://net-export/',
  'chrome://inspect/',
  'chrome-untrusted://terminal/',
  'chrome-extension://a/b.html',
  'chrome-search://local-ntp/',
  'devtools://devtools/bundled/inspector.html?ws=127.0.0.1:9223/devtools/browser',
  'about:version',
  'filesystem:http://pages/temporary/x',
  'blob:http://pages/00000000-0000-0000-0000-000000000000',
  'data:text/html,<title>root:x:0:0</title>',
  'data:text/html,<iframe src="file:///etc/passwd">',
  'javascript:document.title="root:x:0:0"',
  'ftp://pages/',
  'ws://pages/',
  'gopher://pages/',
  'mailto:a@example.org',
  'intent://pages#Intent;end',
] as const;

/** Pages of the lab's site that send whoever opens them to `?url=`. */
export const REDIRECTS = ['/to', '/meta-to', '/script-to', '/form-to', '/refresh-to'] as const;
