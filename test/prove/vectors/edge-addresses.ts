/** Addresses that no one here has, so that one of them in the audit log is a forged one. */
export const FORGED = ['203.0.113.66', '198.51.100.7', '2001:db8::66', '192.0.2.1'] as const;

/**
 * Lines by which a client claims to be someone else. What went wrong elsewhere: the first entry of a list that the
 * client began; a header of another proxy's that nobody removed; a header dropped or overlooked for its place, its
 * spelling or its number, so that the next best was taken.
 */
export const forgeries = (ip: string): [name: string, lines: string[]][] => {
  const one = (...lines: string[]): [string, string[]] => [lines.join(' + ').slice(0, 60), lines];
  return [
    one(`X-Forwarded-For: ${ip}`),
    one(`x-forwarded-for: ${ip}`),
    one(`X-FORWARDED-FOR:${ip}`),
    one(`X-Forwarded-For: ${ip}`, `X-Forwarded-For: ${ip}`),
    one(`X-Forwarded-For: 127.0.0.1, ${ip}`),
    one(`X-Forwarded-For: ${ip}, 127.0.0.1`),
    one(`X-Forwarded-For: ${ip},`),
    one(`X-Forwarded-For: ,${ip}`),
    one(`X-Forwarded-For: , , ${ip}, ,`),
    one('X-Forwarded-For:', `X-Forwarded-For: ${ip}`),
    one(`X-Forwarded-For: ${ip}`, 'X-Forwarded-For:'),
    one(`X-Forwarded-For: ${ip}:1234`),
    one(`X-Forwarded-For: [${ip}]`),
    one(`X-Forwarded-For: "${ip}"`),
    one(`X-Forwarded-For: unknown, ${ip}`),
    one(`X-Forwarded-For: ${ip}\t`),
    one(`X-Forwarded-For: ${ip}\u00A0`),
    one(`X-Forwarded-For: ${`${ip}, `.repeat(200)}${ip}`),
    one(`X-Forwarded-For: for=${ip}`),
    one(`X-Forwarded-For: ${ip};by=caddy`),
    one(`X-Forwarded-For: ${ip}%eth0`),
    one(`X-Forwarded-For: ::ffff:${ip}`),
    one(`X_Forwarded_For: ${ip}`),
    one(`X-Forwarded_For: ${ip}`),
    one(`X.Forwarded.For: ${ip}`),
    one(`X-Forwarded-For-Original: ${ip}`),
    one(`X-Original-Forwarded-For: ${ip}`),
    one(`Forwarded: for=${ip}`),
    one(`Forwarded: for="[${ip}]";proto=https;by=caddy`),
    one(`X-Real-IP: ${ip}`),
    one(`X-Client-IP: ${ip}`),
    one(`X-Cluster-Client-IP: ${ip}`),
    one(`Client-IP: ${ip}`),
    one(`True-Client-IP: ${ip}`),
    one(`CF-Connecting-IP: ${ip}`),
    one(`Fastly-Client-IP: ${ip}`),
    one(`X-Originating-IP: ${ip}`),
    one(`X-Remote-IP: ${ip}`),
    one(`X-Remote-Addr: ${ip}`),
    one(`X-ProxyUser-IP: ${ip}`),
    one(`Via: 1.1 ${ip}`),
    one(`X-Forwarded: ${ip}`),
    one(`X-Forwarded-By: ${ip}`),
    one(`X-Forwarded-Host: ${ip}`, `X-Forwarded-For: ${ip}`),
    one(`X-Forwarded-Proto: https`, `X-Forwarded-For: ${ip}`),
    one('Connection: X-Forwarded-For', `X-Forwarded-For: ${ip}`),
    one('Connection: close, X-Forwarded-For', `X-Forwarded-For: ${ip}`),
    one('Connection: X-Forwarded-For, X-Real-IP', `X-Real-IP: ${ip}`),
    one('TE: trailers', `X-Forwarded-For: ${ip}`),
    one(
      `X-Forwarded-For: ${ip}`,
      `X-Forwarded-For: ${ip}, ${ip}`,
      `Forwarded: for=${ip}`,
      `X-Real-IP: ${ip}`,
    ),
    // Behind the field that is the 2,000th, where Node by itself stops looking.
    ['2,100 fields before it', [...Array.from({ length: 2_100 }, () => 'a:'), `X-Forwarded-For: ${ip}`]],
  ];
};
