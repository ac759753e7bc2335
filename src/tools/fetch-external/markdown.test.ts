// A table of 40 kilobytes kept the usual converter busy for half a minute, and the server with it.
import { afterAll, describe, expect, it } from 'vitest';

import { createMarkdownConverter } from './markdown.ts';

const converter = createMarkdownConverter();
afterAll(() => converter.close());
const convert = (html: string) =>
  converter.convert({ html, base: 'https://site.test/a/' }, new AbortController().signal);

describe('markdown', () => {
  it.each([
    ['headings and lists', '<h2>A</h2><ul><li>b<li>c</ul>', '## A\n\n-   b\n-   c'],
    ['links from where the page is', '<a href="../b (1)">x</a>', '[x](https://site.test/b%20%281%29)'],
    ['no link that runs code', '<a href="javascript:alert(1)">x</a>', 'x'],
    ['code', '<pre><code>a\n  b</code></pre>', '```\na\n  b\n```'],
    [
      'tables in tables',
      '<table><tr><td>a<table><tr><td>b</table></table>',
      '| a \\| b \\| \\| --- \\| |\n| --- |',
    ],
    ['no empty table', '<table></table>x', 'x'],
    [
      'nothing that is hidden',
      'a<p hidden>b</p><p style="display: NONE">c</p><svg><text>d</text></svg><!-- e -->',
      'a',
    ],
  ])('has %s', async (_, html, markdown) => {
    expect(await convert(html)).toBe(markdown);
  });

  it('of 20,000 cells is made', async () => {
    expect(await convert(`<table>${'<tr><td>x<td>y'.repeat(10_000)}</table>`)).toHaveLength(100_013);
  });

  it('is given up when it takes too long, and the next page is converted', async () => {
    const strict = createMarkdownConverter(500);
    const { signal } = new AbortController();
    const hostile = strict.convert({ html: '<div>'.repeat(100_000), base: 'https://site.test/' }, signal);
    await expect(hostile).rejects.toMatchObject({
      code: 'too_large',
      message: 'The page cannot be turned into markdown: it takes more than 0.5 s.',
    });
    await expect(strict.convert({ html: '<b>x</b>', base: 'https://site.test/' }, signal)).resolves.toBe(
      '**x**',
    );
    await strict.close();
  });

  it('is given up with its call', async () => {
    const call = new AbortController();
    const pending = converter.convert(
      { html: '<div>'.repeat(100_000), base: 'https://site.test/' },
      call.signal,
    );
    call.abort(new Error('gone'));
    await expect(pending).rejects.toThrow('gone');
    expect(await convert('x')).toBe('x');
  });
});
