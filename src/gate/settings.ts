import * as z from 'zod';

import { setting } from '../core/setting.ts';

const limit = z.int().min(0).max(1_000_000);

/** An object that may name some of the tools; the others keep the default. */
function byTool(defaults: Record<'ssh' | 'mesh' | 'fetch' | 'search' | 'snippets' | 'browser', number>) {
  return z.strictObject({
    ssh_exec: limit.default(defaults.ssh),
    mesh_status: limit.default(defaults.mesh),
    fetch_external: limit.default(defaults.fetch),
    code_search: limit.default(defaults.search),
    snippet_kb: limit.default(defaults.snippets),
    browser: limit.default(defaults.browser),
  });
}

const BY_TOOL = 'an object that maps names of tools to whole numbers from 0 to 1000000';

// What one call holds while it runs decides: a page holds a process, a search an API that grants ten a minute.
// Their sum is the limit of the whole service, so that no tools' crowd, not even several together, keeps another out.
const concurrentByTool = byTool({ ssh: 128, mesh: 128, fetch: 128, search: 32, snippets: 64, browser: 32 });
const perMinuteByTool = byTool({
  ssh: 6_000,
  mesh: 6_000,
  fetch: 6_000,
  search: 6_000,
  snippets: 6_000,
  browser: 6_000,
});

export const limitSettings = {
  concurrent: setting.integer({
    env: 'MAX_CONCURRENT_CALLS',
    yaml: 'limits.concurrent_calls',
    default: 512,
    min: 0,
    max: 1_000_000,
    reloadable: true,
    meaning: 'Tool calls that may run at a time, over all tools; one more is `rate_limited`. 0 is no limit.',
  }),
  concurrentByTool: setting.json({
    env: 'MAX_CONCURRENT_CALLS_BY_TOOL',
    yaml: 'limits.concurrent_calls_by_tool',
    schema: concurrentByTool,
    expected: BY_TOOL,
    default: concurrentByTool.parse({}),
    example: '{"ssh_exec":16}',
    reloadable: true,
    meaning:
      'Calls of each tool that may run at a time. Tools that are not named keep their default; 0 is no limit.',
  }),
  perMinute: setting.integer({
    env: 'MAX_CALLS_PER_MINUTE',
    yaml: 'limits.calls_per_minute',
    default: 36_000,
    min: 0,
    max: 1_000_000,
    reloadable: true,
    meaning:
      'Tool calls a minute, over all tools, once five minutes’ worth has been used up at once. 0 is no limit.',
  }),
  perMinuteByTool: setting.json({
    env: 'MAX_CALLS_PER_MINUTE_BY_TOOL',
    yaml: 'limits.calls_per_minute_by_tool',
    schema: perMinuteByTool,
    expected: BY_TOOL,
    default: perMinuteByTool.parse({}),
    example: '{"ssh_exec":600}',
    reloadable: true,
    meaning:
      'Calls of each tool a minute, in the same way. Tools that are not named keep their default; 0 is no limit.',
  }),
};
