import { ephemeralHmacKey, type HmacKey, homeFrom, localKeys, type Signer } from '../evidence/index.ts';
import { assertUnobserved } from '../launch/index.ts';
import { inputVariable } from './fields.ts';
import { type JobInputs, SECRET_INPUTS } from './inputs.ts';

export interface Keys {
  readonly signer: Signer;
  readonly hmacKey: HmacKey;
  readonly programsDirectory: string;
  /** What whoever reads the log has to know about the signing key. */
  readonly warning: string | undefined;
}

/** The keys that were given, else the key of the machine's user; without `hmac-key` one for this process alone. Throws KEY_EXPOSED. */
export async function keysFor(inputs: JobInputs, environment: NodeJS.ProcessEnv): Promise<Keys> {
  assertUnobserved();
  const home = homeFrom(environment);
  const { programsDirectory } = home;
  const hmacKey = inputs.hmacKey ?? ephemeralHmacKey();
  if (inputs.signer) return { signer: inputs.signer, hmacKey, programsDirectory, warning: undefined };
  const { signer } = await localKeys(home, { guard: assertUnobserved });
  const warning =
    `There is no signing-key (pull requests from forks get no secrets): receipts are signed with a key made on this machine, ` +
    `${signer.keyId}, custody ${signer.custody}. Nobody who does not trust that key can verify them.`;
  return { signer, hmacKey, programsDirectory, warning };
}

/**
 * Takes the secrets out of the process's variables and returns the rest; their names stay, since receipts list what was
 * withheld. The memory in which they stood at the start stays as it was, hence KEY_EXPOSED_AT_START.
 */
export function takeOutSecrets(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const environment = { ...variables };
  for (const name of SECRET_INPUTS.map(inputVariable)) {
    if (variables[name] === undefined) continue;
    environment[name] = '';
    variables[name] = '';
    delete variables[name];
  }
  return environment;
}
