import { describe, expect, it } from 'vitest';

import { decide, mayOpen } from './policy.ts';
import { input } from './schema.ts';

const RULES = { allowedPrivateHosts: ['nas.home.arpa', '192.168.1.5', '[fd00::5]'], evalEnabled: false };

const codeOf = (args: Record<string, unknown>, rules = RULES) => {
  const decision = decide(input.parse(args), rules);
  return decision.verdict === 'refuse' && 'error' in decision ? decision.error.code : decision.verdict;
};

// CVE-2026-49857 and its like: an address that is written unusually passed a check that compared texts.
describe('addresses in URLs', () => {
  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://①②⑦.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://a.localhost/',
    'https://10.0.0.1/',
    'http://192.168.1.6/',
    'http://[fd00::6]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://100.64.0.1/',
    'http://[64:ff9b::a00:1]/',
    'http://0.0.0.0/',
  ])('%s is address_not_allowed', (url) => {
    expect(codeOf({ action: 'open', url })).toBe('address_not_allowed');
  });

  it.each([
    'https://example.org/',
    'http://93.184.216.34/',
    'http://nas.home.arpa./',
    'http://192.168.1.5:8080/',
    'http://[fd00::5]/',
  ])('%s may be opened', (url) => {
    expect(codeOf({ action: 'open', url })).toBe('allow');
  });

  it.each([
    'file:///etc/passwd',
    'chrome://version',
    'javascript:1',
    'data:text/html,x',
    'example.org',
    'http://user:pass@example.org/',
    '',
  ])('%s is invalid_input', (url) => {
    expect(codeOf({ action: 'open', url })).toBe('invalid_input');
  });
});

describe('addresses that a name leads to', () => {
  const refusal = (url: string, addresses: string[]) => {
    try {
      mayOpen(new URL(url), addresses, RULES.allowedPrivateHosts);
      return 'allowed';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  it('are judged one and all, except those of a named host', () => {
    expect(refusal('http://example.org/', ['93.184.216.34'])).toBe('allowed');
    expect(refusal('http://example.org/', ['93.184.216.34', '10.0.0.1'])).toBe('address_not_allowed');
    expect(refusal('http://nas.home.arpa/', ['192.168.1.9'])).toBe('allowed');
    expect(refusal('http://sub.nas.home.arpa/', ['192.168.1.9'])).toBe('address_not_allowed');
    expect(refusal('http://nas.home.arpa/', ['169.254.169.254'])).toBe('address_not_allowed');
  });
});

describe('arguments', () => {
  it.each([
    [{ action: 'open' }],
    [{ action: 'click' }],
    [{ action: 'fill', ref: '#a' }],
    [{ action: 'press' }],
    [{ action: 'click', ref: '--new-tab' }],
    [{ action: 'press', value: '--json' }],
    [{ action: 'press', value: 'two keys' }],
    [{ action: 'scroll', value: 'down --selector' }],
    [{ action: 'snapshot', ref: 'e5' }],
    [{ action: 'text', dialog: 'maybe' }],
    [{ action: 'fill', ref: '#a', value: 'x'.repeat(100_001) }],
    [{ action: 'eval', value: '1' }],
  ])('%j is invalid_input', (args) => {
    expect(codeOf(args)).toBe('invalid_input');
  });

  it('eval runs by the operator’s leave alone', () => {
    expect(codeOf({ action: 'eval', value: '1' }, { ...RULES, evalEnabled: true })).toBe('allow');
  });

  it('what is in order passes', () => {
    for (const args of [
      { action: 'press', value: 'Control+a' },
      { action: 'press', value: '-' },
      { action: 'scroll' },
      { action: 'scroll', value: 'up 200' },
      { action: 'text', dialog: 'accept:any\ntext' },
    ]) {
      expect(codeOf(args)).toBe('allow');
    }
  });
});
