import { setting, type SettingsOf } from '../../core/setting.ts';

export const browserSettings = {
  cdpHost: setting.string({
    env: 'BROWSER_CDP_HOST',
    default: '127.0.0.1',
    pattern: /^[A-Za-z0-9_.:-]+$/,
    expected: 'a host name or address',
    meaning: 'Host of the CDP browser.',
  }),
  cdpPort: setting.integer({
    env: 'BROWSER_CDP_PORT',
    default: 9222,
    min: 1,
    max: 65535,
    meaning: 'Port of the CDP browser.',
  }),
  allowedPrivateHosts: setting.list({
    env: 'BROWSER_ALLOWED_PRIVATE_HOSTS',
    default: [],
    pattern: /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[?[0-9A-Fa-f:.]+\]?)$/,
    expected: 'a comma-separated list of host names and addresses, without scheme, port or path',
    example: 'nas.home.arpa,192.168.1.5',
    meaning:
      'Hosts with private, loopback or mesh addresses that the browser may open all the same, each written as in the page’s URL.',
  }),
  maxSessions: setting.integer({
    env: 'BROWSER_MAX_SESSIONS',
    default: 8,
    min: 1,
    max: 64,
    meaning: 'Most browser sessions at a time; each holds pages in the browser’s memory.',
  }),
  idleSeconds: setting.integer({
    env: 'BROWSER_IDLE_SECONDS',
    default: 900,
    min: 1,
    max: 86_400,
    meaning: 'Seconds without a call after which a browser session is closed, its cookies with it.',
  }),
  evalEnabled: setting.boolean({
    env: 'BROWSER_EVAL_ENABLED',
    default: false,
    meaning: 'When true, the browser tool’s eval runs JavaScript that the assistant wrote in the page.',
  }),
};

export type BrowserSettings = SettingsOf<typeof browserSettings>;
