import { ReceiptsError } from '../contract/index.ts';
import { type Policy, planEnvironment } from '../policy/index.ts';
import { createRedactor, type Literal, type Redactor } from '../redact/index.ts';

export type Redact = (text: string) => string;

/** Secrets by the inputs that they came in. */
export function literalsOf(secrets: readonly string[]): Literal[] {
  return secrets.map((value, index) => ({ name: `secret input ${index + 1}`, value }));
}

/** The default rules, the values of secret inputs and those of secret variables, put together when the first text comes. */
export function redactorFor(
  literals: readonly Literal[],
  environment: NodeJS.ProcessEnv,
  policy: Policy | undefined,
): Redact {
  let redactor: Redactor | undefined;
  return (text) => {
    const variables = Object.entries(environment) as Array<[string, string]>;
    redactor ??= createRedactor({
      literals: [...literals, ...planEnvironment(variables, policy?.document.environment).secrets],
    });
    return redactor.text(text);
  };
}

/** Everyone sees an artifact's name as it is, so it may hold nothing that would be masked. Throws USAGE. */
export function refuseSecretName(input: string, name: string, redact: Redact): void {
  if (redact(name) === name) return;
  throw new ReceiptsError(
    'USAGE',
    `input ${input} holds a secret: the value of a secret input or variable, or a token`,
    {
      next: 'Choose a name that may be seen by everyone.',
    },
  );
}
