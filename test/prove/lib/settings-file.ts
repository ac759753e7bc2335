import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { container, docker, hangUp, stack } from '../../support/stack.ts';
import { until } from '../../support/until.ts';

const YAML = join(stack.composeEnv['CONFIG_DIR'] ?? '', 'service.config.yaml');

/** How often the server has said so. */
const said = async (message: string): Promise<number> =>
  (await docker('logs', container('server'))).split(message).length - 1;

async function reload(answer: string): Promise<void> {
  const before = await said(answer);
  await hangUp();
  await until(`the server says: ${answer}`, async () => (await said(answer)) > before);
}

/** Runs `act` while the server is under the YAML file `text`, and then puts it back under none. */
export async function withSettings<T>(text: string, act: () => Promise<T>): Promise<T> {
  writeFileSync(YAML, text, { mode: 0o644 });
  try {
    await reload('configuration read again');
    return await act();
  } finally {
    rmSync(YAML);
    await reload('configuration read again');
  }
}

/** Has the server read a YAML file that it must turn down, and takes it away again. */
export async function offerSettings(text: string): Promise<void> {
  writeFileSync(YAML, text, { mode: 0o644 });
  try {
    await reload('configuration not taken over');
  } finally {
    rmSync(YAML);
  }
}
