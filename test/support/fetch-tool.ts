import { loadConfig } from '../../src/config/load.ts';
import { ToolError } from '../../src/core/errors.ts';
import { silentLog } from '../../src/core/log.ts';
import type { Tool } from '../../src/core/tool.ts';
import { type FetchExternalParts, createFetchExternal } from '../../src/tools/fetch-external/tool.ts';

export interface Fetched {
  status: number;
  url: string;
  headers: Record<string, string>;
  content_type: string | null;
  body: string;
  bytes: number;
  truncated: boolean;
  redirects: string[];
  token_injected: boolean;
  duration_ms: number;
}

export interface FetchTool {
  tool: Tool;
  /** What the gate does of a call: parse, decide, run. */
  call(args: Record<string, unknown>, signal?: AbortSignal): Promise<Fetched>;
  /** The error of a call that fails. */
  failure(args: Record<string, unknown>, signal?: AbortSignal): Promise<ToolError>;
  close(): Promise<void>;
}

/** fetch_external with its settings from an environment, and the resolver and authorities of a test. */
export function fetchTool(
  env: Record<string, string>,
  parts: Pick<FetchExternalParts, 'resolve' | 'ca'> = {},
): FetchTool {
  const { config, secrets } = loadConfig({
    MCP_SECRET: 'fetch-secret-fetch-secret-fetch-secret',
    MESH_API_KEY: 'mesh-key-1',
    CODE_HOST_TOKEN: 'ghp_CodeHostToken1234567890',
    ...env,
  });
  const tool = createFetchExternal({ settings: config.fetch, secrets, ...parts });
  const call: FetchTool['call'] = async (args, signal = new AbortController().signal) => {
    const input = tool.input.parse(args);
    const decision = tool.decide(input);
    if (decision.verdict === 'refuse') throw 'error' in decision ? decision.error : new Error(decision.rule);
    const context = {
      id: 'test',
      signal,
      dryRun: false,
      log: silentLog,
      progress: () => {},
      lateOutcome: async () => {},
    };
    return (await tool.run(input, context)).value as unknown as Fetched;
  };
  return {
    tool,
    call,
    async failure(args, signal) {
      const outcome = await call(args, signal).catch((error: unknown) => error);
      if (outcome instanceof ToolError) return outcome;
      throw new Error(`not a ToolError: ${JSON.stringify(outcome)}`, { cause: outcome });
    },
    close: () => tool.close(),
  };
}
