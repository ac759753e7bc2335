import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Lab, startLab } from '../support/browser-lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.stop());

const call = (args: Record<string, unknown>) => lab.call(args);
const value = (args: Record<string, unknown>) => lab.value(args);
const seen = (path: string, script: string) => lab.seen(path, script);

describe('images and PDF', () => {
  const size = (data: unknown) => {
    const bytes = Buffer.from(String(data), 'base64');
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), bytes: bytes.length };
  };

  it('a screenshot is the visible part, as PNG', async () => {
    await lab.open('/tall');
    const { blocks } = await call({ action: 'screenshot' });
    expect(blocks).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
    expect(size(blocks[0]?.['data'])).toMatchObject({ width: 1280, height: 800 });
  });

  it('the full page is scaled to at most 1568 pixels, and the page is left as it was', async () => {
    await lab.open('/tall');
    const { blocks, value: said } = await call({ action: 'screenshot', full_page: true });
    const { width, height } = size(blocks[0]?.['data']);
    expect(height).toBeGreaterThan(1500);
    expect(height).toBeLessThanOrEqual(1568);
    expect(width).toBeGreaterThan(200);
    expect(said.notices).toEqual([expect.stringMatching(/^The image was scaled to 17 % /)]);
    expect(await seen('/tall', '[devicePixelRatio, innerWidth, innerHeight]')).toEqual([1, 1280, 800]);
  });

  it('an element, and JPEG', async () => {
    await lab.open('/form');
    const { blocks } = await call({ action: 'screenshot', ref: 'button' });
    expect(size(blocks[0]?.['data']).height).toBeLessThan(40);
    const { blocks: jpeg } = await call({ action: 'screenshot', format: 'jpeg' });
    expect(jpeg).toMatchObject([{ mimeType: 'image/jpeg', data: expect.stringMatching(/^\/9j\//) }]);
  });

  it('what would be over 1 MiB is made smaller, and said so', async () => {
    await lab.open('/noise');
    const { blocks, value: said } = await call({ action: 'screenshot' });
    expect(blocks).toMatchObject([{ type: 'image', mimeType: 'image/jpeg' }]);
    expect(Buffer.from(String(blocks[0]?.['data']), 'base64').length).toBeLessThanOrEqual(1024 * 1024);
    expect(said.notices).toEqual([expect.stringContaining('lower quality')]);
  });

  it('a PDF is an embedded resource', async () => {
    await lab.open('/');
    const { blocks } = await call({ action: 'pdf' });
    expect(blocks).toMatchObject([
      {
        type: 'resource',
        resource: { mimeType: 'application/pdf', blob: expect.stringMatching(/^JVBERi0/) },
      },
    ]);
  });

  it('none of it stays on the server’s disk', async () => {
    // As the server's own user: nobody else may look into its directory.
    const list = ['exec', '--user', '10001', lab.container('server'), 'sh', '-c', 'ls /tmp/rts-*/out'];
    const files = await lab.docker(...list);
    expect(files).toBe('');
  });
});

// GHSA-wmg3-h8mf-wgvr and its like: a value that begins with dashes became an option of the program it was handed
// to, without any shell. This tool's `fill #name --cdp 9999` on a command line went to another browser.
describe('values that look like options', () => {
  const OPTIONS = [
    '--cdp',
    '--cdp=9999',
    '--session',
    '--json',
    '--clear',
    '--delay',
    '--help',
    '-h',
    '--',
    '-',
    '@e1',
    '--profile',
  ];

  it.each(OPTIONS)('%s is filled and typed as text', async (text) => {
    await lab.open('/form');
    await value({ action: 'fill', ref: '#name', value: text });
    expect(await seen('/form', 'document.querySelector("#name").value')).toBe(text);
    await value({ action: 'fill', ref: '#name', value: '' });
    await value({ action: 'type', ref: '#name', value: text });
    expect(await seen('/form', 'document.querySelector("#name").value')).toBe(text);
  });

  it('and select, press and refs refuse them', async () => {
    await lab.open('/form');
    expect((await call({ action: 'select', ref: '#colour', value: '--cdp' })).value.error?.code).toBe(
      'not_found',
    );
    for (const args of [
      { action: 'press', value: '--json' },
      { action: 'click', ref: '--new-tab' },
      { action: 'snapshot', ref: '-i' },
      { action: 'scroll', value: 'down 5 --selector x' },
    ]) {
      expect((await call(args)).value.error?.code).toBe('invalid_input');
    }
  });
});
