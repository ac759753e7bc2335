// A raw file's address comes from an answer: it could send the token, or a note's text, somewhere it must not go.
import { describe, expect, it } from 'vitest';

import type { HttpAnswer } from './http.ts';
import { readRaw } from './raw.ts';

const API = new URL('https://api.example.org/api/v3');

/** What was sent where, and the file's text; `redirects` maps an address to the next one. */
async function read(address: string, api = API, redirects: Record<string, string> = {}) {
  const sent: [url: string, authorization: string | undefined][] = [];
  const text = await readRaw(address, api, 'the-token', async (url, headers) => {
    sent.push([url.href, headers['authorization']]);
    const location = redirects[url.href];
    return {
      status: location === undefined ? 200 : 302,
      headers: new Headers(location === undefined ? {} : { location }),
      body: Buffer.from('text'),
    } as unknown as HttpAnswer;
  });
  return { sent, text: text.toString() };
}

describe('readRaw', () => {
  it('sends the token to the API’s own origin only', async () => {
    const [own, other] = ['https://api.example.org/raw/x', 'https://raw.example.org/x'];
    expect((await read(own)).sent).toEqual([[own, 'Bearer the-token']]);
    expect((await read(other)).sent).toEqual([[other, undefined]]);
    expect((await read(own, API, { [own]: other })).sent).toEqual([
      [own, 'Bearer the-token'],
      [other, undefined],
    ]);
    const port = 'https://api.example.org:8443/x';
    expect((await read(port)).sent).toEqual([[port, undefined]]);
  });

  it.each(['http://raw.example.org/x', 'file:///etc/passwd', 'https://a:b@raw.example.org/x', 'no address'])(
    'refuses %s, as an address and as a redirect',
    async (address) => {
      const words = 'api.example.org gave an address of a file that is not an https URL.';
      const start = 'https://raw.example.org/start';
      const redirected = address === 'no address' ? 'http://[' : address;
      await expect(read(address)).rejects.toThrow(words);
      await expect(read(start, API, { [start]: redirected })).rejects.toThrow(words);
    },
  );

  it('takes plain http where the API itself is plain http', async () => {
    expect((await read('http://raw.local/x', new URL('http://host.local'))).text).toBe('text');
  });

  it('ends a loop of redirects', async () => {
    const at = 'https://raw.example.org/x';
    await expect(read(at, API, { [at]: at })).rejects.toThrow(
      'raw.example.org redirected more than 3 times.',
    );
  });
});
