import { setting, type SettingsOf } from '../../core/setting.ts';

export const snippetSettings = {
  all: setting.boolean({
    env: 'SNIPPET_KB_ALL',
    default: false,
    meaning:
      'When true, snippet_kb works on all gists of the account, not only on those it marked as its own.',
  }),
};

export type SnippetSettings = SettingsOf<typeof snippetSettings>;
