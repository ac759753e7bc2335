import { createCodeHost } from '../../src/codehost/client.ts';
import { loadConfig } from '../../src/config/load.ts';
import { silentLog } from '../../src/core/log.ts';
import type { Tool } from '../../src/core/tool.ts';
import { createMesh } from '../../src/mesh/client.ts';
import { createTools } from '../../src/tools/index.ts';

/** The six tools with default settings; nothing is connected until one is called. */
export function catalogue(): Tool[] {
  const { config } = loadConfig({
    MCP_SECRET: 'catalogue-secret-catalogue-secret',
    MESH_API_KEY: 'mesh-key-1',
    CODE_HOST_TOKEN: 'host-token-1',
  });
  return createTools({
    settings: config,
    mesh: createMesh(config.mesh),
    codeHost: createCodeHost(config.codeHost),
    privateKey: undefined,
    secrets: new Map(),
    log: silentLog,
  }).tools;
}
