import { ALLOW, type Decision } from '../../core/decision.ts';
import { ToolError } from '../../core/errors.ts';
import { classifyAddress, isSameAddress, literalAddress } from '../../net/address.ts';
import { NEEDED, isSnapshotRef } from './commands.ts';
import { addressNotAllowed } from './failures.ts';
import type { BrowserInput } from './schema.ts';
import type { BrowserSettings } from './settings.ts';

type Rules = Pick<BrowserSettings, 'allowedPrivateHosts' | 'evalEnabled'>;

/**
 * What can be said of a call before anything runs. Where a name leads is seen later: by `mayOpen` here, and at the
 * boundary, which is the proxy that the browser's pages go through.
 */
export function decide(input: BrowserInput, rules: Rules): Decision {
  for (const name of NEEDED[input.action] ?? []) {
    if (input[name] === undefined) return refuse('arguments', invalid(`${input.action} needs "${name}"`));
  }
  const { action, url } = input;
  if (action === 'eval' && !rules.evalEnabled) {
    return refuse(
      'BROWSER_EVAL_ENABLED',
      invalid(
        'eval is turned off on this server',
        'snapshot, text and console read a page; the operator can set BROWSER_EVAL_ENABLED=true.',
      ),
    );
  }
  const fault = argumentFault(input);
  if (fault !== undefined) return refuse('arguments', invalid(fault));
  if (action === 'open' && url !== undefined) {
    const error = urlFault(url, rules.allowedPrivateHosts);
    if (error) return refuse(error.code === 'invalid_input' ? 'arguments' : 'address', error);
  }
  return ALLOW;
}

/** What the schema can't say of an argument, because it depends on the action. */
function argumentFault({ action, ref, value, dialog, url }: BrowserInput): string | undefined {
  for (const [name, text, most] of [
    ['url', url, 8192],
    ['ref', ref, 1000],
    ['value', value, 100_000],
    ['dialog', dialog, 10_000],
  ] as const) {
    if (text !== undefined && text.length > most) return `"${name}" has more than ${most} characters`;
  }
  // The tool would take it for an option.
  if (ref?.startsWith('-')) return `"ref" is neither a ref nor a selector: ${ref}`;
  if (action === 'snapshot' && ref !== undefined && isSnapshotRef(ref)) {
    return 'snapshot takes a CSS selector as "ref", not a ref';
  }
  if (action === 'press' && value !== undefined && !KEY.test(value)) {
    return 'press takes one key as "value", such as Enter, a or Control+a';
  }
  if (action === 'scroll' && value !== undefined && !SCROLL.test(value)) {
    return 'scroll takes a direction and pixels as "value", such as "down 600" or "up 200"';
  }
  if (dialog !== undefined && !DIALOG.test(dialog)) {
    return '"dialog" is dismiss, accept, or accept:TEXT for a prompt';
  }
  return undefined;
}

const KEY = /^(?:[^-\s]\S{0,40}|-)$/u;
const SCROLL = /^(?:up|down|left|right)(?: [1-9]\d{0,5})?$/;
const DIALOG = /^(?:dismiss|accept(?::[^]*)?)$/;

function urlFault(text: string, allowed: readonly string[]): ToolError | undefined {
  if (!URL.canParse(text)) {
    return invalid(`"url" is not a URL: ${text.slice(0, 200)}`, 'Write it whole, with https://.');
  }
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return invalid(`"url" has the scheme ${url.protocol}, and only http and https are opened`);
  }
  if (url.username !== '' || url.password !== '') return invalid('"url" holds a user name or a password');
  const host = hostOf(url);
  if (isNamed(host, allowed)) return undefined;
  if (host === 'localhost' || host.endsWith('.localhost'))
    return addressNotAllowed(url.href, 'it is this machine');
  const address = literalAddress(host);
  const kind = address === undefined ? 'public' : classifyAddress(address);
  return kind === 'public' ? undefined : addressNotAllowed(url.href, `its address is ${kind}`);
}

/**
 * Whether a name's addresses may be opened: each of them, because the browser chooses among them.
 * @throws ToolError `address_not_allowed`
 */
export function mayOpen(url: URL, addresses: readonly string[], allowed: readonly string[]): void {
  const named = isNamed(hostOf(url), allowed);
  for (const address of addresses) {
    const kind = classifyAddress(address);
    // Nobody's web page is at the address where a cloud hands out credentials.
    if (kind === 'public' || (named && kind !== 'metadata')) continue;
    throw addressNotAllowed(url.href, `it leads to ${address}, and that address is ${kind}`);
  }
}

/** Lower-case, without the brackets of IPv6 and the trailing dot of a name. */
export function hostOf(url: URL): string {
  return bare(url.hostname);
}

function isNamed(host: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) => bare(entry) === host || isSameAddress(bare(entry), host));
}

function bare(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

function invalid(message: string, hint?: string): ToolError {
  return new ToolError('invalid_input', `browser: ${message}.`, hint === undefined ? {} : { hint });
}

function refuse(rule: string, error: ToolError): Decision {
  return { verdict: 'refuse', rule, error };
}
