import type { Swallow } from './swallow.ts';
import type { Rule } from './types.ts';
import { redactionFailed, type View } from './view.ts';

/** A candidate that turned out to be a secret: from `start`, swallowed on from `resume`; ends there without a swallow. */
export interface Opening {
  readonly start: number;
  readonly resume: number;
  readonly swallow: Swallow | undefined;
}

/** Answers for the candidate at `position`, whose anchor takes `length` bytes. Void when it sets `view.need`. */
export type Matcher = (view: View, position: number, length: number) => Opening | undefined;

/** Asks the rule's hook, if it has one; whatever the hook throws stays inside, since it may quote the stream. */
export function isVerified(rule: Rule, view: View, start: number, end: number): boolean {
  if (rule.verify === undefined) return true;
  try {
    return rule.verify(view.bytes, start, end);
  } catch {
    throw redactionFailed(rule.id, 'failed while verifying a match');
  }
}
