import { expect, it } from 'vitest';

import { describeSettings } from './describe.ts';
import { loadConfig } from './load.ts';

const { config, sources } = loadConfig(
  {
    MCP_SECRET: 'first-secret',
    MESH_API_KEY: 'second-secret',
    CODE_HOST_TOKEN: 'third-secret',
    DRY_RUN: 'true',
  },
  'ssh:\n  blocked_commands: [rm -rf, dd]\n',
);
const described = describeSettings(config, sources);
const the = (env: string) => described.find((each) => each.env === env);

// What is never handed over cannot be shown by a mistake in the page.
it('hands over no secret, only whether it is set', () => {
  expect(JSON.stringify(described)).not.toContain('-secret"');
  expect(the('MCP_SECRET')).toMatchObject({
    value: undefined,
    set: true,
    secret: true,
    source: 'environment',
  });
  expect(the('MCP_SECRET_PREVIOUS')).toMatchObject({ value: undefined, set: false, source: 'default' });
});

it('tells values and where they came from', () => {
  expect(the('DRY_RUN')).toMatchObject({ value: 'true', source: 'environment', group: 'ssh' });
  expect(the('SSH_BLOCKED_COMMANDS')).toMatchObject({ value: 'rm -rf, dd', source: 'file' });
  expect(the('PORT')).toMatchObject({ value: '3000', set: true, source: 'default' });
  expect(the('SSH_ALLOWED_DIRS')).toMatchObject({ value: '', set: false, source: 'default' });
});
