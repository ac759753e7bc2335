import { hostname, networkInterfaces } from 'node:os';

import { VERSION } from '../../tools/browser/cli-process.ts';
import { browserCliVersion } from '../../tools/browser/cli-version.ts';
import { judge, tryToOpen } from '../../tools/browser/containment.ts';
import { type Endpoint, findEndpoint } from '../../tools/browser/endpoint.ts';
import type { BrowserSettings } from '../../tools/browser/settings.ts';
import { type Finding, LONGEST_MS, fail, ok, warn } from './report.ts';

export async function checkBrowserCli(path: string | undefined, signal: AbortSignal): Promise<Finding> {
  const name = 'browser CLI';
  const { program, version } = await browserCliVersion(path, signal);
  if (version === VERSION) return ok(name, `agent-browser ${version} (${program})`);
  return warn(
    name,
    `agent-browser ${version} (${program}), where ${VERSION} is expected`,
    `Install the version that the server is built for: npm i -g agent-browser@${VERSION}`,
  );
}

export async function checkCdp(settings: BrowserSettings, signal: AbortSignal): Promise<Finding> {
  const { http, version } = await findEndpoint(settings, signal);
  return ok('browser', `${version} at ${http}`);
}

const CONTAINMENT = 'browser containment';
const ALL_MS = LONGEST_MS - 1_000;
/** Each is a tab, and with the others they have little time. */
const MOST_ADDRESSES = 4;
const METADATA = 'http://169.254.169.254/';
const GUARD =
  'Start Chromium with the filtering proxy as its only way out, as the services chromium and egress of docker-compose.yml do.';

/** Whether pages are kept away from this server, by whatever address, and from the cloud's metadata service. */
export async function checkContainment(
  settings: BrowserSettings,
  port: number,
  signal: AbortSignal,
): Promise<Finding> {
  let endpoint: Endpoint;
  try {
    endpoint = await findEndpoint(settings, signal);
  } catch {
    return warn(CONTAINMENT, 'not looked at: there is no browser', 'See the line "browser".');
  }
  const urls = [...ownUrls(port, settings.allowedPrivateHosts), METADATA];
  const attempts = await tryToOpen(endpoint, urls, ALL_MS);
  const of = (verdict: ReturnType<typeof judge>) => attempts.filter((attempt) => judge(attempt) === verdict);

  const [untried] = of('untried');
  if (untried && of('reached').length === 0) {
    const found = `the browser was too busy to open ${untried.url} within ${ALL_MS / 1000} s`;
    return warn(CONTAINMENT, found, 'Run the doctor again when the machine is less busy.');
  }
  // This machine's own loopback is never silent, so silence everywhere is that of the way there: of a proxy whose
  // name does not even resolve.
  const silent = attempts.every(({ netError }) => netError === 'ERR_TIMED_OUT');
  if (silent || of('no_proxy').length > 0) {
    const mend = 'Start the service egress: docker compose up -d egress.';
    return fail(CONTAINMENT, 'the browser’s proxy does not answer, so no page opens at all', mend);
  }
  const [reached] = of('reached');
  if (reached) {
    const { url, status, proxyError } = reached;
    return fail(CONTAINMENT, `a page reached ${url} (${proxyError ?? `HTTP ${status}`})`, GUARD);
  }
  const [open] = of('unguarded');
  if (open && attempts.some(({ proxyError }) => proxyError !== undefined)) {
    const mend = 'Run the doctor again; if it stays so, the proxy tries to reach that address.';
    return warn(CONTAINMENT, `the proxy refuses others, but has not answered for ${open.url}`, mend);
  }
  if (open) {
    const found = `nothing kept a page from ${open.url}; it just did not answer (${open.netError})`;
    return warn(CONTAINMENT, found, GUARD);
  }
  return ok(CONTAINMENT, `pages are refused ${urls.map((url) => new URL(url).host).join(', ')}`);
}

/** The server's addresses as pages might name them, but for those that the operator opened to pages. */
function ownUrls(port: number, allowed: readonly string[]): string[] {
  const addresses = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address)
    .slice(0, MOST_ADDRESSES);
  return ['localhost', hostname(), ...addresses]
    .filter((host) => !allowed.includes(host))
    .map((host) => `http://${host}:${port}/health`)
    .filter((url) => URL.canParse(url));
}
