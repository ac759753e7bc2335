import { setting, type SettingsOf } from '../core/setting.ts';

export const codeHostSettings = {
  token: setting.requiredSecret({
    env: 'CODE_HOST_TOKEN',
    meaning: 'Code-host personal access token: scope "gist" for snippet_kb, "repo" for code_search.',
  }),
  apiUrl: setting.string({
    env: 'CODE_HOST_API_URL',
    default: 'https://api.github.com',
    pattern: /^https?:\/\/\S+$/,
    expected: 'an http or https URL',
    example: 'https://github.example.org/api/v3',
    meaning: 'Base URL of the code host’s API; set it for an enterprise server.',
  }),
};

export type CodeHostSettings = SettingsOf<typeof codeHostSettings>;
