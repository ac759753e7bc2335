import type { ListToolsResult } from '@modelcontextprotocol/server';
import * as z from 'zod';

import type { Tool } from '../core/tool.ts';

/**
 * The answer to tools/list, made once: turning zod schemas into JSON Schema takes half the time of a list
 * that is built for each request.
 */
export function listTools(tools: readonly Tool[]): ListToolsResult {
  return {
    tools: tools.map((tool) => ({
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema: schemaOf(tool.input, 'input'),
      outputSchema: schemaOf(tool.output, 'output'),
      annotations: { ...tool.annotations },
    })),
  };
}

type ObjectSchema = ListToolsResult['tools'][number]['inputSchema'];

function schemaOf(schema: z.ZodObject, io: 'input' | 'output'): ObjectSchema {
  // The dialect is the protocol's default, and each byte here is paid for in the assistant's context.
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (io === 'output') {
        // Clients need types to check an answer, not promises about which fields are always there.
        delete jsonSchema.additionalProperties;
        delete jsonSchema.required;
      }
      // What an object that may hold anything holds.
      if (Object.keys(jsonSchema.properties ?? { any: true }).length === 0) delete jsonSchema.properties;
      // zod spells out JavaScript's integer range, which no reader needs.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return rest as ObjectSchema;
}
