// Builds dist/ byte for byte reproducibly. `--check` builds aside and fails when what is committed differs.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { placeNatives } from './natives.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const committed = join(root, 'dist');

/** koffi's own loader looks for its binaries in places that a bundle does not have: ours takes the one that fits. */
const koffiLoader = {
  name: 'koffi-loader',
  setup(builder) {
    builder.onResolve({ filter: /^koffi$/ }, () => ({ path: 'koffi', namespace: 'native' }));
    builder.onLoad({ filter: /.*/, namespace: 'native' }, () => ({
      resolveDir: root,
      contents: `
        import { createRequire } from 'node:module';
        const load = createRequire(import.meta.url);
        let native, failure;
        for (const libc of ['linux', 'musl']) {
          try { native = load('./native/' + libc + '_' + process.arch + '/koffi.node'); break; } catch (error) { failure ??= error; }
        }
        if (native === undefined) throw failure;
        export default native;`,
    }));
  },
};

async function bundle(outdir) {
  await build({
    absWorkingDir: root,
    entryPoints: { cli: 'src/cli/main.ts', index: 'src/action/main.ts', post: 'src/action/post.ts' },
    outdir,
    bundle: true,
    splitting: true,
    minify: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    // CommonJS dependencies inside the bundle ask for Node's own modules this way.
    banner: { js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);" },
    plugins: [koffiLoader],
  });
  writeFileSync(join(outdir, 'package.json'), '{"type":"module"}\n');
}

function scriptsOf(directory) {
  if (!existsSync(directory)) return new Map();
  const names = readdirSync(directory).filter((name) => name.endsWith('.js') || name === 'package.json');
  return new Map(names.sort().map((name) => [name, createHash('sha256').update(readFileSync(join(directory, name))).digest('hex')]));
}

const aside = mkdtempSync(join(tmpdir(), 'command-receipts-build-'));
try {
  await bundle(aside);
  if (process.argv.includes('--check')) {
    const [fresh, stored] = [scriptsOf(aside), scriptsOf(committed)];
    const stale = [...new Set([...fresh.keys(), ...stored.keys()])].filter((name) => fresh.get(name) !== stored.get(name));
    if (stale.length > 0) {
      console.error(`dist is stale: ${stale.join(', ')}. Run: npm run build`);
      process.exitCode = 1;
    }
    placeNatives(root, join(committed, 'native'), { check: true });
  } else {
    mkdirSync(committed, { recursive: true });
    for (const name of scriptsOf(committed).keys()) rmSync(join(committed, name));
    cpSync(aside, committed, { recursive: true });
    placeNatives(root, join(committed, 'native'), { check: false });
  }
} finally {
  rmSync(aside, { recursive: true });
}
