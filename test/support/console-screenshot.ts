/**
 * Takes the pictures of the console in docs/images: the page over made-up data, in the project's own Chromium.
 * Needs the engine and the image remote-tool-server/chromium (deploy/up builds it).
 */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { startChromium } from './console-chromium.ts';
import { startDemoConsole } from './console-demo.ts';

const directory = process.argv[2] ?? 'docs/images';
const LARGEST = 200 * 1024;

const SHOTS = [
  { name: 'console-light', colorScheme: 'light', viewport: { width: 1280, height: 1250 } },
  { name: 'console-dark', colorScheme: 'dark', viewport: { width: 1280, height: 1250 } },
  {
    name: 'console-phone',
    colorScheme: 'light',
    viewport: { width: 360, height: 780 },
    isMobile: true,
    hasTouch: true,
  },
] as const;

mkdirSync(directory, { recursive: true });
const [page, chromium] = await Promise.all([startDemoConsole(), startChromium()]);
try {
  await chromium.reach(page.base);
  for (const { name, ...options } of SHOTS) {
    const context = await chromium.browser.newContext(options);
    const tab = await context.newPage();
    await tab.goto(page.url);
    const path = join(directory, `${name}.png`);
    await tab.screenshot({ path });
    await context.close();
    const { size } = statSync(path);
    if (size > LARGEST) throw new Error(`${path} has ${size} bytes; the README allows for ${LARGEST}`);
    process.stdout.write(`${path}: ${size} bytes\n`);
  }
} finally {
  await chromium.close();
  await page.close();
}
