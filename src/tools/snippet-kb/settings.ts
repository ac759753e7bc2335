import { setting, type SettingsOf } from '../../core/setting.ts';

export const snippetSettings = {
  all: setting.boolean({
    env: 'SNIPPET_KB_ALL',
    default: false,
    meaning:
      'When true, snippet_kb works on all gists of the account, not only on secret ones with "[snippet-kb]" in their description.',
  }),
};

export type SnippetSettings = SettingsOf<typeof snippetSettings>;
