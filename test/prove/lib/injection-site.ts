import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { container, docker, stack } from '../../support/stack.ts';
import { until } from '../../support/until.ts';

export interface InjectionSite {
  /** What was asked for that is no page: exfiltrated, if anything. */
  hits(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Address of a service on the one network that it has with the engine's host. */
export async function addressOf(service: string): Promise<string> {
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}';
  return (await docker('inspect', '--format', format, container(service))).trim().split(' ')[0] ?? '';
}

/** Puts pages at http://demo-site:8088, for the server and for the browser. */
export async function openInjectionSite(
  pages: Readonly<Record<string, { type: string; body: string }>>,
): Promise<InjectionSite> {
  const directory = mkdtempSync(join(tmpdir(), 'injection-'));
  const file = join(directory, 'pages.json');
  writeFileSync(file, JSON.stringify(pages));
  const name = `${stack.project}-injection`;
  await docker(
    ...['run', '--detach', '--rm', '--name', name, '--network', `container:${container('demo-site')}`],
    ...['--volume', `${file}:/pages.json:ro`],
    ...['--volume', `${process.cwd()}/test/prove/lib/injection-site.mjs:/site.mjs:ro`],
    ...[process.env['NODE_IMAGE'] ?? 'node:24-trixie-slim', 'node', '/site.mjs'],
  );
  const base = `http://${await addressOf('demo-site')}:8088`;
  await until('the site answers', async () => (await fetch(`${base}/hits`)).ok);
  return {
    hits: async () => (await (await fetch(`${base}/hits`)).json()) as string[],
    async stop() {
      await docker('rm', '--force', name);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
