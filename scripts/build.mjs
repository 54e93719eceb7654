// Builds dist/ byte for byte reproducibly. `--check` builds aside and fails when what is committed differs.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle, root } from './bundle.mjs';
import { placeNatives } from './natives.mjs';

const entryPoints = { cli: 'src/cli/main.ts', index: 'src/action/main.ts', post: 'src/action/post.ts' };
const committed = join(root, 'dist');

function scriptsOf(directory) {
  if (!existsSync(directory)) return new Map();
  const names = readdirSync(directory).filter((name) => name.endsWith('.js') || name === 'package.json');
  return new Map(
    names.sort().map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(directory, name)))
        .digest('hex'),
    ]),
  );
}

/** New files first, then what is no longer built: a process that runs the old bundle meanwhile keeps its files longest. */
function replace(from, to) {
  const [fresh, stored] = [scriptsOf(from), scriptsOf(to)];
  mkdirSync(to, { recursive: true });
  for (const [name, digest] of fresh) if (stored.get(name) !== digest) cpSync(join(from, name), join(to, name));
  for (const name of stored.keys()) if (!fresh.has(name)) rmSync(join(to, name));
}

function staleFiles(from, to) {
  const [fresh, stored] = [scriptsOf(from), scriptsOf(to)];
  return [...new Set([...fresh.keys(), ...stored.keys()])].filter((name) => fresh.get(name) !== stored.get(name));
}

const aside = mkdtempSync(join(tmpdir(), 'command-receipts-build-'));
const check = process.argv.includes('--check');
try {
  await bundle(entryPoints, aside);
  if (check) {
    const stale = staleFiles(aside, committed);
    if (stale.length > 0) {
      console.error(`dist is stale: ${stale.join(', ')}. Run: npm run build`);
      process.exitCode = 1;
    }
  } else replace(aside, committed);
  placeNatives(root, join(committed, 'native'), { check });
} finally {
  rmSync(aside, { recursive: true });
}
