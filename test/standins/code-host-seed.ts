import type { StandinGist } from './code-host-gists.ts';
import type { StandinRepository } from './code-host-search.ts';

/** What the demo's code host begins with; all of it is made up. */
export const DEMO_GISTS: readonly StandinGist[] = [
  {
    owner: 'demo',
    description: 'Backing up the NAS [snippet-kb: backup, nas]',
    files: {
      'backup.md':
        '# Backing up the NAS\n\nEvery night at 02:30 restic copies /volume1 to the second disk.\n\n' +
        '    restic -r /mnt/backup snapshots\n    restic -r /mnt/backup check\n\n' +
        'Restoring was tried on 2026-03-02 and took 40 minutes.\n',
    },
    updated_at: '2026-03-02T18:20:00Z',
  },
  {
    owner: 'demo',
    description: 'Router and Wi-Fi [snippet-kb: network]',
    files: {
      'router.md':
        '# Router\n\nThe guest network is VLAN 30 and reaches the internet only. DNS goes to the small server on port 53.\n',
      'ports.txt': '22 ssh\n53 dns\n443 web\n',
    },
    updated_at: '2026-05-11T09:05:00Z',
  },
  {
    owner: 'demo',
    description: 'Deploying the web app [snippet-kb: deploy, web-1]',
    files: {
      'deploy.md':
        '# Deploy\n\n1. `ssh web-1`\n2. `cd /srv/app && git pull`\n3. `systemctl restart app`\n\nRoll back with `git checkout v1.4`.\n',
    },
    updated_at: '2026-08-19T14:40:00Z',
  },
  {
    owner: 'demo',
    description: 'A gist that is no note: snippet_kb leaves it alone',
    public: true,
    files: { 'dotfiles.sh': 'export EDITOR=vim\n' },
    updated_at: '2026-02-01T12:00:00Z',
  },
];

export const DEMO_REPOSITORIES: readonly StandinRepository[] = [
  {
    name: 'demo/app',
    description: 'The demo web app',
    language: 'TypeScript',
    files: {
      'src/server.ts':
        "import { createServer } from 'node:http';\n\nconst server = createServer((request, response) => {\n  response.end('Hello from the demo');\n});\nserver.listen(8080);\n",
      'src/config.ts':
        "/** Reads the port that createServer listens on. */\nexport const port = Number(process.env['PORT'] ?? 8080);\n",
      'README.md': '# Demo app\n\nRun `npm start`. The server listens on port 8080.\n',
    },
    issues: [
      {
        title: 'Server does not stop on SIGTERM',
        body: 'createServer keeps idle connections open, so the container is killed after ten seconds.',
      },
      { title: 'Close idle connections on SIGTERM', body: 'Fixes #1.', pull: true },
    ],
    commits: ['Listen on PORT\n\nThe port was fixed before.', 'Say hello'],
  },
  {
    name: 'demo/home',
    description: 'Scripts for the machines at home',
    private: true,
    language: 'Shell',
    files: { 'backup.sh': '#!/bin/sh\nrestic -r /mnt/backup backup /volume1\n' },
    commits: ['Back up to the second disk'],
  },
];
