/**
 * The short cut answers what the SDK would, without asking it. A first version of such a thing, elsewhere, made
 * thirteen mistakes that its author's own tests did not see; each would have been a client that fails against this
 * server alone. So both ways are asked the same, and must say the same.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { plainRequests, requests } from '../support/protocol-requests.ts';
import { type Pair, type RawAnswer, startPair } from '../support/protocol-pair.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.close());

/** What a client can tell two answers apart by. */
function seen({ status, headers, text }: RawAnswer) {
  const json = headers['content-type']?.startsWith('application/json') ?? false;
  return {
    status,
    type: headers['content-type'],
    allow: headers.allow,
    body: json ? (JSON.parse(text) as unknown) : text,
  };
}

describe('the short cut', () => {
  it('is taken by every plain request after the first of its kind', async () => {
    const all = plainRequests();
    expect(all).toHaveLength(8);
    for (const { body, headers } of all) await pair.quick.post(body, headers);
    const before = pair.quick.whole();
    for (const { body, headers } of all) expect((await pair.quick.post(body, headers)).status).toBe(200);
    expect(pair.quick.whole() - before).toBe(0);
    pair.quick.records();
  });

  const all = requests();
  it(`answers and records as the SDK does, ${all.length} requests`, async () => {
    expect(all.length).toBeGreaterThan(1_000);
    for (const { what, body, headers } of all) {
      const [quick, pure] = await Promise.all([
        pair.quick.post(body, headers),
        pair.pure.post(body, headers),
      ]);
      expect({ what, ...seen(quick) }).toEqual({ what, ...seen(pure) });
      expect({ what, records: pair.quick.records() }).toEqual({ what, records: pair.pure.records() });
    }
    // Otherwise both sides were the SDK, and the test said nothing.
    expect(pair.pure.whole() - pair.quick.whole()).toBeGreaterThan(100);
  });

  it('leaves calls to the SDK that want to hear of their progress', async () => {
    const wanting = all.filter(
      ({ what }) => what.includes('tools/call') && what.endsWith(': _meta + "progressToken":1'),
    );
    expect(wanting).toHaveLength(4);
    const before = pair.quick.whole();
    for (const { body, headers } of wanting) await pair.quick.post(body, headers);
    expect(pair.quick.whole() - before).toBe(4);
  });

  it('passes on that a client has gone', async () => {
    const fresh = await startPair();
    const calls = plainRequests().filter(({ what }) => what.startsWith('modern tools/call'));
    const [refused, asksTheMesh] = calls;
    if (!refused || !asksTheMesh) throw new Error('no such requests');
    try {
      // One call of its kind, so that the next is answered on the short cut.
      await fresh.quick.post(refused.body, refused.headers);
      for (const side of [fresh.quick, fresh.pure]) {
        side.records();
        const [whole, asked] = [side.whole(), fresh.control.requests('mesh').length];
        fresh.control.fail('mesh', { hang: true });
        const client = new AbortController();
        const answer = side.post(asksTheMesh.body, asksTheMesh.headers, client.signal);
        await expect.poll(() => fresh.control.requests('mesh').length).toBeGreaterThan(asked);
        client.abort();
        await expect(answer).rejects.toThrow('aborted');
        const records: Record<string, unknown>[] = [];
        await expect.poll(() => records.push(...side.records())).toBe(2);
        expect(records.map(({ event, outcome, error_code: code }) => [event, outcome, code])).toEqual([
          ['intent', undefined, undefined],
          ['outcome', 'error', 'cancelled'],
        ]);
        expect(side.whole() - whole).toBe(side === fresh.quick ? 0 : 1);
      }
    } finally {
      await fresh.close();
    }
  });
});
