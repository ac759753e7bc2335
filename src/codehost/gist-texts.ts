import * as z from 'zod';

import { ToolError } from '../core/errors.ts';
import { stripInvisible } from '../core/visible-text.ts';
import { type CodeHost, GRAPHQL_PATH } from './client.ts';

/** A gist's texts, without its history. */
export interface GistText {
  id: string;
  updated_at: string;
  /** `text` is null for what is no text; `whole` is false for a part of a file. */
  files: { name: string; text: string | null; whole: boolean }[];
}

const QUERY = `query($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on Gist { name updatedAt files(limit: 300) { name text isTruncated } }
  }
}`;

const answer = z.looseObject({
  data: z
    .looseObject({
      nodes: z.array(
        z
          .looseObject({
            name: z.string().optional(),
            updatedAt: z.string().optional(),
            files: z
              .array(
                z
                  .looseObject({
                    name: z.string().nullable(),
                    text: z.string().nullable(),
                    isTruncated: z.boolean(),
                  })
                  .nullable(),
              )
              .nullish(),
          })
          .nullable(),
      ),
    })
    .nullish(),
  errors: z.array(z.looseObject({ type: z.string().optional(), message: z.string().optional() })).optional(),
});

/**
 * Reads many gists in one GraphQL request. The REST API wants one request each: a thousand notes would take longer
 * than a minute of its secondary limit allows, and a fifth of the hour's.
 * @throws ToolError as `CodeHost.request`; `rate_limited` also where the API says so in an answer with status 200
 */
export async function gistTexts(
  codeHost: CodeHost,
  nodeIds: readonly string[],
  signal: AbortSignal,
): Promise<GistText[]> {
  const { data } = await codeHost.request(
    {
      method: 'POST',
      path: GRAPHQL_PATH,
      body: { query: QUERY, variables: { ids: nodeIds } },
      allowance: 'graphql',
      signal,
    },
    answer,
  );
  const [error] = data?.errors ?? [];
  if (error?.type === 'RATE_LIMITED') {
    throw new ToolError('rate_limited', `The limit of ${codeHost.host} for GraphQL is reached.`, {
      hint: 'Wait a minute.',
      retryAfterSeconds: 60,
    });
  }
  // Gists that are gone come as null, with an error each beside them.
  if (!data?.data) {
    const said = stripInvisible(error?.message ?? 'no data').slice(0, 200);
    throw new ToolError('upstream_error', `${codeHost.host} answered a GraphQL query with: ${said}.`);
  }
  return data.data.nodes.flatMap((node) => {
    if (!node?.name || !node.updatedAt || !node.files) return [];
    const files = node.files
      .filter((file) => file !== null)
      .map(({ name, text, isTruncated }) => ({ name: name ?? '', text, whole: !isTruncated }));
    return [{ id: node.name, updated_at: node.updatedAt, files }];
  });
}
