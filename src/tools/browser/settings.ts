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
};

export type BrowserSettings = SettingsOf<typeof browserSettings>;
