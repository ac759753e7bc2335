import { readFile, rm, stat } from 'node:fs/promises';

import { ToolError } from '../../core/errors.ts';
import type { ExtraContent } from '../../core/tool.ts';
import type { AgentBrowser, Command, Step } from './agent-browser.ts';
import { element } from './commands.ts';
import type { BrowserInput } from './schema.ts';

/** Models scale larger images down themselves. */
const LONGEST_SIDE = 1568;
const LARGEST_IMAGE = 1024 * 1024;
const LARGEST_PDF = 5 * 1024 * 1024;
const JPEG_QUALITY = 80;
const POOR_JPEG_QUALITY = 40;

/** Runs commands on the page; fails where one of them does. */
export type Act = (
  commands: readonly Command[],
  image?: { format: 'png' | 'jpeg'; quality: number },
) => Promise<Step[]>;

export interface Size {
  width: number;
  height: number;
}

interface Captured {
  extra: ExtraContent[];
  notices: string[];
}

/** The page, its whole length, or an element, as an image within the caps. */
export async function screenshot(
  input: BrowserInput,
  viewport: Size,
  cli: AgentBrowser,
  act: Act,
): Promise<Captured> {
  const size = await sizeOf(input, viewport, act);
  const scale = scaleFor(size);
  const path = cli.file();
  const shoot = async (format: 'png' | 'jpeg', quality: number, most: number) => {
    const target = input.ref === undefined ? (input.full_page ? ['--full'] : []) : [element(input.ref)];
    const shot = ['screenshot', ...target, path];
    const zoom = (factor: number) => [
      'set',
      'viewport',
      String(viewport.width),
      String(viewport.height),
      String(factor),
    ];
    await act(scale === 1 ? [shot] : [zoom(scale), shot, zoom(1)], { format, quality });
    return { format, data: await take(path, most, 'Take an element by ref, or the visible part.') };
  };

  let image = await shoot(input.format, JPEG_QUALITY, 64 * LARGEST_IMAGE);
  const notices: string[] = [];
  if (image.data.length > LARGEST_IMAGE) {
    image = await shoot('jpeg', POOR_JPEG_QUALITY, LARGEST_IMAGE);
    notices.push('As a PNG or a finer JPEG the image was too large; this is a JPEG of lower quality.');
  }
  if (scale !== 1) {
    notices.push(
      `The image was scaled to ${Math.round(scale * 100)} % from ${Math.round(size.width)} × ${Math.round(size.height)}; for detail, take an element by ref.`,
    );
  }
  return {
    extra: [{ type: 'image', data: image.data.toString('base64'), mimeType: `image/${image.format}` }],
    notices,
  };
}

/** The page as an embedded PDF. */
export async function pdf(url: string, cli: AgentBrowser, act: Act): Promise<Captured> {
  const path = cli.file();
  await act([['pdf', path]]);
  const data = await take(path, LARGEST_PDF, 'Use text or screenshot.');
  const resource = { uri: url, mimeType: 'application/pdf', blob: data.toString('base64') };
  return { extra: [{ type: 'resource', resource }], notices: [] };
}

async function sizeOf(input: BrowserInput, viewport: Size, act: Act): Promise<Size> {
  if (input.ref !== undefined) {
    const [step] = await act([['get', 'box', element(input.ref)]]);
    return step?.result as unknown as Size;
  }
  if (!input.full_page) return viewport;
  const [step] = await act([
    [
      'eval',
      '({ width: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight })',
    ],
  ]);
  return step?.result?.['result'] as Size;
}

/** The page may say anything of its size, so what it says is taken for no more than a reason to make less of it. */
function scaleFor({ width, height }: Size): number {
  const longest = Math.max(width, height);
  if (Number.isNaN(longest)) return 1;
  return longest <= LONGEST_SIDE ? 1 : Math.max(0.01, Math.floor((LONGEST_SIDE / longest) * 1000) / 1000);
}

/** Reads a file that the tool wrote, up to a size, and removes it. */
async function take(path: string, most: number, hint: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > most) {
      throw new ToolError('too_large', `What the page makes has ${size} bytes, over ${most}.`, { hint });
    }
    return await readFile(path);
  } finally {
    await rm(path, { force: true });
  }
}
