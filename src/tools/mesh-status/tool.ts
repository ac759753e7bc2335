import * as z from 'zod';

import { type Tool, defineTool } from '../../core/tool.ts';
import type { Mesh } from '../../mesh/device.ts';

const input = z.strictObject({
  device: z.string().min(1).optional().describe('Name, DNS name or mesh address of the only one wanted.'),
  online_only: z.boolean().optional().describe('Leave out offline devices.'),
  tag: z.string().min(1).optional().describe('Only devices with this tag, with or without "tag:".'),
});

// The devices' other fields are `Device`'s, described there: spelled out here they would cost every client
// half a kilobyte of its context, to learn what the answer shows.
const output = z.object({
  network: z.string(),
  total: z.number(),
  online: z.number(),
  devices: z.array(z.looseObject({ name: z.string(), online: z.boolean() })),
});

/** The mesh network's devices, from its management API; no device is contacted. */
export function createMeshStatus(mesh: Mesh): Tool {
  return defineTool({
    name: 'mesh_status',
    title: 'Mesh network status',
    description:
      'Lists the devices of the mesh network and whether each is online. Needs no SSH on them. ' +
      'total and online count the whole network, whatever the filter. Example: {"online_only":true}',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    input,
    output,
    untrusted: ['devices'],
    deadlineMs: () => 15_000,
    async run({ device, online_only: onlineOnly, tag }, { signal }) {
      const all = await mesh.devices(signal);
      const asked = device === undefined ? all : [await mesh.device(device, signal)];
      const wanted = asked.filter(
        ({ online, tags }) =>
          (online || !onlineOnly) && (tag === undefined || tags.some((own) => isTag(own, tag))),
      );
      return {
        value: {
          network: mesh.network,
          total: all.length,
          online: all.filter(({ online }) => online).length,
          devices: wanted.map((entry) => ({ ...entry })),
        },
      };
    },
  });
}

function isTag(own: string, asked: string): boolean {
  const bare = (tag: string) => tag.toLowerCase().replace(/^tag:/, '');
  return bare(own) === bare(asked);
}
