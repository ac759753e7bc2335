/**
 * Whether a request that changes something comes from the console's own page. A browser tells the origin of every
 * form and script that posts; a request without the header comes from no page.
 * @param publicHost the host name that a reverse proxy may have replaced in `Host`
 */
export function fromOwnPage(headers: Headers, publicHost: string): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin' && site !== 'none') return false;
  const origin = headers.get('origin');
  if (origin === null) return true;
  if (!URL.canParse(origin)) return false;
  const { protocol, host, hostname } = new URL(origin);
  if (protocol === 'https:' && hostname === publicHost.toLowerCase()) return true;
  return host === headers.get('host')?.toLowerCase();
}

/** Whether the browser reached the server by HTTPS, so that a cookie may be bound to it. */
export function cameByHttps(headers: Headers, publicHost: string): boolean {
  if (headers.get('x-forwarded-proto')?.split(',')[0]?.trim() === 'https') return true;
  // A proxy that doesn't say: the public host is served by HTTPS only. localhost may be plain HTTP.
  const hostname = headers.get('host')?.replace(/:\d+$/, '').toLowerCase();
  return publicHost !== 'localhost' && hostname === publicHost.toLowerCase();
}
