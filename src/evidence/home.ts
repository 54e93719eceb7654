import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { closeSync, existsSync, fstatSync, linkSync, openSync, readFileSync, unlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { errnoOf, ReceiptsError } from '../contract/index.ts';
import { rawPublicKey } from '../contract/key-id.ts';
import { makeDirectory, placeFile, syncDirectory, writeNewFile } from './files.ts';
import { parseHmacKey } from './hmac-key.ts';
import { createSigner, type HmacKey, parseSigningKey, type Signer, type SignerOptions } from './signing.ts';

/** The user's directory of keys, trust and content-addressed programs. */
export interface Home {
  readonly directory: string;
  readonly signingKeyFile: string;
  readonly hmacKeyFile: string;
  readonly trustFile: string;
  readonly programsDirectory: string;
}

export function homeFrom(environment: NodeJS.ProcessEnv): Home {
  const directory = environment.COMMAND_RECEIPTS_HOME || join(configDirectory(environment), 'command-receipts');
  if (!isAbsolute(directory))
    throw new ReceiptsError('USAGE', 'COMMAND_RECEIPTS_HOME is no absolute path', {
      where: directory,
      next: 'Keys must not land wherever a command is run: write the path from / on.',
    });
  return {
    directory,
    signingKeyFile: join(directory, 'signing-key.pem'),
    hmacKeyFile: join(directory, 'hmac-key'),
    trustFile: join(directory, 'trust.yml'),
    programsDirectory: join(directory, 'programs'),
  };
}

/** As the XDG base directory specification has it: a relative path is invalid and is ignored. */
function configDirectory({ XDG_CONFIG_HOME, HOME }: NodeJS.ProcessEnv): string {
  if (XDG_CONFIG_HOME && isAbsolute(XDG_CONFIG_HOME)) return XDG_CONFIG_HOME;
  return join(HOME && isAbsolute(HOME) ? HOME : userInfo().homedir, '.config');
}

export interface LocalKeys {
  readonly signer: Signer;
  readonly hmacKey: HmacKey;
  /** True when the signing key was made by this call. */
  readonly created: boolean;
}

/** Loads the user's keys and makes them on first use, 0600. Throws KEY_PERMISSIONS or KEY_INVALID. */
export async function localKeys(home: Home, options: Pick<SignerOptions, 'guard'> = {}): Promise<LocalKeys> {
  const created = inHome(home, () => {
    makeDirectory(home.directory);
    createOnce(home.hmacKeyFile, () => Buffer.from(`${randomBytes(32).toString('base64')}\n`, 'utf8'));
    return createOnce(home.signingKeyFile, newSigningKey);
  });
  const privateKey = parseSigningKey(readPrivate(home.signingKeyFile).toString('utf8'), home.signingKeyFile);
  const hmacKey = parseHmacKey(readPrivate(home.hmacKeyFile).toString('utf8'), home.hmacKeyFile);
  const signer = createSigner(privateKey, { custody: 'reachable-by-command', ...options });
  if (created || !existsSync(home.trustFile)) await trustKey(home, signer);
  return { signer, hmacKey, created };
}

/** It is the home that cannot be written, not the store. */
function inHome<T>(home: Home, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw new ReceiptsError(
      'HOME_UNWRITABLE',
      `cannot make keys in the home (${error instanceof ReceiptsError ? (error.errno ?? error.code) : (errnoOf(error) ?? 'unwritable')})`,
      {
        where: home.directory,
        next: 'Set COMMAND_RECEIPTS_HOME to a directory that you may write to.',
        cause: error,
      },
    );
  }
}

function newSigningKey(): Buffer {
  const { privateKey } = generateKeyPairSync('ed25519');
  return Buffer.from(privateKey.export({ format: 'pem', type: 'pkcs8' }));
}

/** Two first runs at once must end with one key: the file appears whole, or not at all. */
function createOnce(path: string, content: () => Buffer): boolean {
  if (existsSync(path)) return false;
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeNewFile(temporary, content());
  try {
    linkSync(temporary, path);
    syncDirectory(join(path, '..'));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    unlinkSync(temporary);
  }
}

function readPrivate(path: string): Buffer {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    throw new ReceiptsError('KEY_INVALID', `cannot read the key (${errnoOf(error) ?? 'unknown'})`, {
      where: path,
      next: 'Make the file readable for you, or name another COMMAND_RECEIPTS_HOME.',
      cause: error,
    });
  }
  try {
    const { mode, uid } = fstatSync(fd);
    refuseLooseMode(path, mode, uid);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function refuseLooseMode(path: string, mode: number, uid: number): void {
  if (process.platform === 'win32') return;
  const own = process.getuid?.();
  if (own !== undefined && own !== 0 && uid !== own)
    throw new ReceiptsError('KEY_PERMISSIONS', `the key belongs to user id ${uid}, not to you`, {
      where: path,
      next: 'Use a COMMAND_RECEIPTS_HOME of your own.',
    });
  if ((mode & 0o077) !== 0)
    throw new ReceiptsError(
      'KEY_PERMISSIONS',
      `others may read the key (mode ${(mode & 0o777).toString(8).padStart(4, '0')})`,
      {
        where: path,
        next: `Run: chmod 600 ${path} — and make a new key if the machine is shared.`,
      },
    );
}

/** Adds the public key to the user's trust file, so that `receipts verify` knows it here and nowhere else. */
async function trustKey(home: Home, signer: Signer): Promise<void> {
  const { withTrustedKey } = await import('../contract/trust.ts');
  const before = existsSync(home.trustFile) ? readFileSync(home.trustFile, 'utf8') : undefined;
  const after = withTrustedKey(before, home.trustFile, {
    keyId: signer.keyId,
    publicKey: rawPublicKey(signer.publicKey).toString('base64'),
    validFrom: new Date(Math.floor(Date.now() / 1000) * 1000).toISOString(),
  });
  if (after !== before) placeFile(home.trustFile, Buffer.from(after, 'utf8'));
}
