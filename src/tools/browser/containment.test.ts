import { expect, it } from 'vitest';

import { judge } from './containment.ts';

const url = 'http://169.254.169.254/';

it.each([
  ['refused by the proxy', { status: 403, proxyError: 'ERR_ACCESS_DENIED' }, 'refused'],
  ['a name the proxy does not know', { status: 503, proxyError: 'ERR_DNS_FAIL' }, 'refused'],
  ['a name the browser does not know', { netError: 'ERR_NAME_NOT_RESOLVED' }, 'refused'],
  ['refused by the browser', { netError: 'ERR_BLOCKED_BY_ADMINISTRATOR' }, 'refused'],
  ['an answer', { status: 200 }, 'reached'],
  ['the server’s own refusal, which is an answer', { status: 401 }, 'reached'],
  ['an attempt by the proxy', { status: 503, proxyError: 'ERR_CONNECT_FAIL' }, 'reached'],
  ['nothing listening there', { netError: 'ERR_CONNECTION_REFUSED' }, 'unguarded'],
  ['silence', { netError: 'ERR_TIMED_OUT' }, 'unguarded'],
  ['a browser too busy to try', { untried: true as const }, 'untried'],
  ['no proxy', { netError: 'ERR_PROXY_CONNECTION_FAILED' }, 'no_proxy'],
])('%s', (_what, attempt, verdict) => {
  expect(judge({ url, ...attempt })).toBe(verdict);
});
