import { type Policy, planEnvironment } from '../policy/index.ts';
import { createRedactor, type Redactor } from '../redact/index.ts';

export type Redact = (text: string) => string;

const WITHHELD = '[a text of ours is not shown: it could not be redacted]';

/** Members whose texts were redacted before they were signed. */
const SEALED: readonly string[] = ['facts', 'payload'];

let redact: Redact = redactorFor(undefined);

/** Redacts a text of ours: what people type, and what stands in their environment, turns up in messages and paths. */
export function redacted(text: string): string {
  try {
    return redact(text);
  } catch {
    return WITHHELD;
  }
}

/** From here on texts are redacted by somebody who knows more secrets. */
export function redactWith(other: Redact): void {
  redact = other;
}

/** The default rules and the values of secret variables, put together when the first text comes. */
export function redactorFor(policy: Policy | undefined): Redact {
  let redactor: Redactor | undefined;
  return (text) => {
    redactor ??= createRedactor({
      literals: planEnvironment(Object.entries(process.env) as Array<[string, string]>, policy?.document.environment)
        .secrets,
    });
    return redactor.text(text);
  };
}

/** A value with every text in it redacted, so that a secret cannot hide behind how it is printed or broken into lines. */
export function redactedDeep<T>(value: T): T {
  const known = new Map<string, string>();
  const text = (raw: string): string => {
    const shown = known.get(raw) ?? redacted(raw);
    known.set(raw, shown);
    return shown;
  };
  const visit = (node: unknown): unknown => {
    if (typeof node === 'string') return text(node);
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(
      Object.entries(node).map(([name, member]) => [name, SEALED.includes(name) ? member : visit(member)]),
    );
  };
  return visit(value) as T;
}
