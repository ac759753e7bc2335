import { ToolError } from '../core/errors.ts';

/** What a tool answers whose schema is final and whose work is not built yet. */
export function notAvailable(tool: string): never {
  throw new ToolError('not_available', `${tool} is not available in this version.`, {
    hint: 'ssh_exec and mesh_status are.',
  });
}
