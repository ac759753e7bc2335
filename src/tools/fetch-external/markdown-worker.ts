import { parentPort } from 'node:worker_threads';

import Turndown from 'turndown';

/** What the main thread sends. */
export interface MarkdownJob {
  html: string;
  /** Links are resolved against it. */
  base: string;
}

const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });

turndown.addRule('unseen', {
  filter: (node) =>
    ['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'IFRAME', 'OBJECT', 'SVG', 'TITLE'].includes(
      node.nodeName.toUpperCase(),
    ) ||
    // What the page hides from people must not speak to the model.
    node.hasAttribute('hidden') ||
    /display\s*:\s*none|visibility\s*:\s*hidden/i.test(node.getAttribute('style') ?? ''),
  replacement: () => '',
});

turndown.addRule('image', {
  filter: 'img',
  replacement: (_, node) => {
    const { src, alt } = attributesOf(node, 'src', 'alt');
    // A data: URL is the picture itself, as thousands of letters.
    if (src === '' || src.startsWith('data:')) return alt;
    return `![${alt.replaceAll(/\s+/g, ' ')}](${absolute(src)})`;
  },
});

turndown.addRule('link', {
  filter: (node) => node.nodeName === 'A' && node.hasAttribute('href'),
  replacement: (content, node) => {
    const { href } = attributesOf(node, 'href');
    const text = content.trim();
    if (text === '' || /^(?:javascript|data):/i.test(href.trim())) return content;
    return `[${text}](${absolute(href)})`;
  },
});

// The usual plugin for tables takes half a minute for 5,000 cells; these rules take a fifth of a second.
turndown.addRule('cell', {
  filter: ['td', 'th'],
  replacement: (content) =>
    ` ${content
      .trim()
      .replaceAll(/\s*\n\s*/g, ' ')
      .replaceAll('|', '\\|')} |`,
});
turndown.addRule('row', { filter: 'tr', replacement: (content) => `|${content}\n` });
turndown.addRule('rows', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content });
turndown.addRule('table', {
  filter: 'table',
  replacement: (content) => {
    const [first, ...rest] = content.split('\n').filter((line) => line.trim() !== '');
    if (first === undefined) return '';
    const columns = Math.max(1, first.split(/(?<!\\)\|/).length - 2);
    return `\n\n${[first, `|${' --- |'.repeat(columns)}`, ...rest].join('\n')}\n\n`;
  },
});

let base = '';

function absolute(reference: string): string {
  const trimmed = reference.trim();
  const href = URL.canParse(trimmed, base) ? new URL(trimmed, base).href : trimmed;
  return href.replaceAll(
    /[\s()]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

function attributesOf<Name extends string>(node: unknown, ...names: Name[]): Record<Name, string> {
  const element = node as { getAttribute(name: string): string | null };
  return Object.fromEntries(names.map((name) => [name, element.getAttribute(name) ?? ''])) as Record<
    Name,
    string
  >;
}

parentPort?.on('message', (job: MarkdownJob) => {
  base = job.base;
  try {
    answer(turndown.turndown(job.html));
  } catch {
    // Elements nested thousands deep exhaust the stack.
    answer(undefined);
  }
});

function answer(markdown: string | undefined): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage({ markdown });
}
