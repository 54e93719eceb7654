// How the sources become scripts that run without node_modules: used by the build, and by benchmarks of inner parts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export const root = fileURLToPath(new URL('..', import.meta.url));

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

export async function bundle(entryPoints, outdir) {
  await build({
    absWorkingDir: root,
    entryPoints,
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
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
    plugins: [koffiLoader],
  });
  writeFileSync(join(outdir, 'package.json'), '{"type":"module"}\n');
}
