// Publishes the contract's schemas as JSON Schema files; `--check` fails when a published one differs from the sources.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle, root } from './bundle.mjs';

const work = mkdtempSync(join(tmpdir(), 'command-receipts-schema-'));
try {
  await bundle({ schemas: 'src/contract/published.ts' }, work);
  const { PUBLISHED_SCHEMAS } = await import(pathToFileURL(join(work, 'schemas.js')).href);
  mkdirSync(join(root, 'schema'), { recursive: true });
  for (const [name, schema] of Object.entries(PUBLISHED_SCHEMAS)) {
    const path = join(root, 'schema', name);
    const text = `${JSON.stringify(schema, null, 2)}\n`;
    if (!process.argv.includes('--check')) writeFileSync(path, text);
    else if (readFileSync(path, 'utf8') !== text) {
      console.error(`schema/${name} is stale. Run: npm run schema`);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(work, { recursive: true });
}
