import { writeFileSync } from 'node:fs';

import { renderDocuments } from './render-docs.ts';

for (const [path, text] of Object.entries(renderDocuments())) writeFileSync(path, text);
