import * as z from 'zod';

import { rateLimitReport } from '../../codehost/check.ts';
import type { CodeHost } from '../../codehost/client.ts';
import { ToolError } from '../../core/errors.ts';
import type { Device } from '../../mesh/device.ts';
import { type Finding, failure, ok, warn } from './report.ts';

export async function checkMesh(provider: string, devices: () => Promise<Device[]>): Promise<Finding> {
  const all = await devices();
  const online = all.filter((device) => device.online).length;
  return ok('mesh API', `${provider} accepts the key and lists devices: ${online} of ${all.length} online`);
}

const CODE_HOST = 'code host';
const SCOPES = 'code host scopes';
/** What each scope is needed for. */
const NEEDED = { gist: 'snippet_kb', repo: 'code_search in private repositories' } as const;

/** Whether the token is accepted, and what it may do. Asking for the limits costs nothing of them. */
export async function checkCodeHost(codeHost: CodeHost, signal: AbortSignal): Promise<Finding[]> {
  const { scopes } = await codeHost.request({ path: '/rate_limit', signal }, rateLimitReport);
  const accepted = ok(CODE_HOST, `${codeHost.host} accepts the token`);
  return [accepted, scopes === null ? await tryFineGrained(codeHost, signal) : checkScopes(scopes)];
}

function checkScopes(header: string): Finding {
  const has = header.split(',').map((scope) => scope.trim());
  const lacking = (['gist', 'repo'] as const).filter((scope) => !has.includes(scope));
  if (lacking.length === 0) return ok(SCOPES, header);
  const [names, uses] = [lacking.map((scope) => `"${scope}"`), lacking.map((scope) => NEEDED[scope])];
  return warn(
    SCOPES,
    `lacks ${names.join(' and ')} (it has: ${header || 'none'})`,
    `Give the token ${names.join(' and ')}, for ${uses.join(' and ')}.`,
  );
}

/** A fine-grained token's rights stand in no header, so something has to be tried; only reading leaves no trace. */
async function tryFineGrained(codeHost: CodeHost, signal: AbortSignal): Promise<Finding> {
  try {
    await codeHost.request({ path: '/gists', query: { per_page: 1 }, signal }, z.array(z.unknown()));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { ...failure(SCOPES, error), status: 'warn' };
  }
  return ok(
    SCOPES,
    'none to look at (a fine-grained token); reading gists was tried and works. Writing them (permission Gists) and private code (permission Contents) show at the first call',
  );
}
