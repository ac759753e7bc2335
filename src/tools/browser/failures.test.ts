import { expect, it } from 'vitest';

import { documentFailure, stepFailure } from './failures.ts';

const URL = 'http://site.example/';

it.each([
  [{ url: URL, status: 403, proxyError: 'ERR_ACCESS_DENIED 0' }, 'address_not_allowed'],
  [{ url: URL, status: 503, proxyError: 'ERR_DNS_FAIL 0' }, 'upstream_error'],
  [{ url: URL, netError: 'net::ERR_CERT_AUTHORITY_INVALID' }, 'upstream_error'],
  [{ url: URL, status: 404 }, undefined],
])('a document %j is %s', (document, code) => {
  expect(documentFailure(document)?.code).toBe(code);
});

it.each([
  ['Element not found: #nope. Verify the selector, role, or name is correct.', 'not_found'],
  ['Unknown ref: e99', 'not_found'],
  ['No option matched ["x"]. Available options: a ("Alpha")', 'not_found'],
  ['Wait timed out after 700ms', 'timeout'],
  ["Invalid selector '((('", 'invalid_input'],
  ['Navigation failed: net::ERR_CONNECTION_REFUSED', 'upstream_error'],
  ['something new', 'upstream_error'],
])('the tool’s "%s" is %s', (error, code) => {
  expect(stepFailure('click', error, URL).code).toBe(code);
});

it('what the caller wrote, repeated by the tool, is no reason', () => {
  const error = 'Nothing to do with text=timeout';
  expect(stepFailure('click', error, URL, [undefined, 'text=timeout']).code).toBe('upstream_error');
});
