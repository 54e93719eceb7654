// koffi's binaries for every platform that the Linux launcher serves. npm installs only the host's own; the others are
// fetched as packages and held against the integrity that package-lock.json records.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const PACKAGES = {
  '@koromix/koffi-linux-x64': ['linux_x64', 'musl_x64'],
  '@koromix/koffi-linux-arm64': ['linux_arm64', 'musl_arm64'],
};

const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** Brings `<directory>/<libc>_<arch>/koffi.node` to the locked version; with `check` only fails when it is not. */
export function placeNatives(root, directory, { check }) {
  const recordPath = join(root, 'scripts', 'natives.json');
  const record = existsSync(recordPath) ? JSON.parse(readFileSync(recordPath, 'utf8')) : {};
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  for (const [name, folders] of Object.entries(PACKAGES)) {
    const { version, integrity } = lock[`node_modules/${name}`];
    const current = folders.every((folder) => {
      const file = join(directory, folder, 'koffi.node');
      return record[name]?.integrity === integrity && existsSync(file) && sha256(file) === record[name].files[folder];
    });
    if (current) continue;
    if (check) throw new Error(`dist/native is not ${name} ${version}. Run: npm run build`);
    withPackage(name, version, integrity, (source) => {
      const files = {};
      for (const folder of folders) {
        const target = join(directory, folder, 'koffi.node');
        mkdirSync(dirname(target), { recursive: true });
        copyFileSync(join(source, folder, 'koffi.node'), target);
        files[folder] = sha256(target);
      }
      record[name] = { version, integrity, files };
    });
    writeFileSync(recordPath, `${JSON.stringify(record, null, 2)}\n`);
  }
}

function withPackage(name, version, integrity, use) {
  const folder = mkdtempSync(join(tmpdir(), 'command-receipts-natives-'));
  try {
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', `${name}@${version}`, '--json'], { cwd: folder, encoding: 'utf8' }),
    );
    const archive = join(folder, packed.filename);
    const digest = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (digest !== integrity) throw new Error(`${name} ${version}: ${digest} is not what package-lock.json records`);
    execFileSync('tar', ['-xzf', archive, '-C', folder]);
    use(join(folder, 'package'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
