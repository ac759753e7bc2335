import type { CodeHost } from '../codehost/client.ts';
import type { Log } from '../core/log.ts';
import type { Tool } from '../core/tool.ts';
import type { Mesh } from '../mesh/device.ts';
import type { BrowserSettings } from './browser/settings.ts';
import { type BrowserTool, createBrowser } from './browser/tool.ts';
import { createCodeSearch } from './code-search/tool.ts';
import type { FetchSettings } from './fetch-external/settings.ts';
import { createFetchExternal } from './fetch-external/tool.ts';
import { createMeshStatus } from './mesh-status/tool.ts';
import type { SnippetSettings } from './snippet-kb/settings.ts';
import { createSnippetKb } from './snippet-kb/tool.ts';
import type { SshSettings } from './ssh-exec/settings.ts';
import { type SshExec, createSshExec } from './ssh-exec/tool.ts';

export interface ToolParts {
  settings: {
    ssh: SshSettings;
    fetch: FetchSettings;
    snippets: SnippetSettings;
    browser: BrowserSettings;
  };
  mesh: Mesh;
  codeHost: CodeHost;
  /** The text of the SSH key, undefined where there is none. */
  privateKey: string | undefined;
  /** Values by the name of the variable that holds each; fetch_external injects those its map names. */
  secrets: ReadonlyMap<string, string>;
  /** The PATH on which programs are looked for. */
  path?: string | undefined;
  log: Log;
}

export interface Catalogue {
  /** In the order of tools/list. */
  tools: Tool[];
  /** ssh_exec once more: its jobs outlive calls, so that others have to do with them. */
  ssh: SshExec;
  browser: BrowserTool;
}

/** The catalogue: one line a tool. */
export function createTools({
  settings,
  mesh,
  codeHost,
  privateKey,
  secrets,
  path,
  log,
}: ToolParts): Catalogue {
  const ssh = createSshExec({ settings: settings.ssh, mesh, privateKey, log });
  const browser = createBrowser(settings.browser, path);
  const tools = [
    ssh,
    createMeshStatus(mesh),
    createFetchExternal({ settings: settings.fetch, secrets }),
    createCodeSearch(codeHost),
    createSnippetKb(codeHost, settings.snippets, log),
    browser,
  ];
  return { tools, ssh, browser };
}
