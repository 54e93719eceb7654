import picomatch from 'picomatch';
import type { BindingMethod } from '../contract/index.ts';
import type { Policy } from './policy.ts';
import { durationMs, sizeBytes } from './quantities.ts';
import type { PolicyDocument, PolicyRule } from './schema.ts';

/** What was asked for: an argument vector, or a shell text. */
export type Asked = { readonly argv: readonly string[] } | { readonly text: string };

/** What was opened: the policy decides on this, not on the requested name. Absent when nothing could be opened. */
export interface OpenedProgram {
  readonly path: string;
  readonly sha256: string;
}

/** What holds before anything is opened. */
export interface OpeningTerms {
  readonly bindingOrder: readonly BindingMethod[];
  readonly refuseLoaderControl: boolean;
}

/** How a command is run, by the rule that decided. */
export interface Terms {
  readonly bindingOrder: readonly BindingMethod[];
  readonly timeoutMs: number | undefined;
  readonly quota: { readonly head: number; readonly tail: number };
  readonly keepBodies: boolean;
}

export interface Decision {
  readonly outcome: 'ALLOW' | 'DENY';
  /** The rule's id, or `default`. */
  readonly rule: string;
  readonly terms: Terms;
}

const DEFAULT_BINDING: readonly BindingMethod[] = ['fs-verity', 'lease', 'root-owned', 'cas-lease', 'memfd', 'none'];
const DEFAULT_HEAD = 1024 * 1024;
const DEFAULT_TAIL = 3 * 1024 * 1024;

/** The methods to try: of the first rule that fits what was asked, since what it is can only be known once it is opened. */
export function openingTerms({ document }: Policy, asked: Asked): OpeningTerms {
  const rule = document.commands?.find((candidate) => fits(candidate, asked));
  return {
    bindingOrder: rule?.binding ?? document.binding ?? DEFAULT_BINDING,
    refuseLoaderControl: document.environment?.loaderControl === 'refuse',
  };
}

/** The first rule that fits what was asked and what was opened decides; none: the document's default (allow). */
export function decide({ document }: Policy, asked: Asked, opened: OpenedProgram | undefined): Decision {
  const rule = document.commands?.find((candidate) => fits(candidate, asked) && fitsProgram(candidate, opened));
  const outcome = rule ? (rule.outcome ?? 'allow') : (document.default ?? 'allow');
  return {
    outcome: outcome === 'allow' ? 'ALLOW' : 'DENY',
    rule: rule?.id ?? 'default',
    terms: termsOf(document, rule),
  };
}

function termsOf(document: PolicyDocument, rule: PolicyRule | undefined): Terms {
  const output = { ...document.output, ...rule?.output };
  const timeout = rule?.timeout ?? document.timeout;
  // Default-deny for bodies: under a policy that lists commands, an unlisted one keeps counts and digests only.
  const unlisted = document.commands !== undefined && rule === undefined;
  return {
    bindingOrder: rule?.binding ?? document.binding ?? DEFAULT_BINDING,
    timeoutMs: timeout === undefined ? undefined : durationMs(timeout),
    quota: { head: sizeBytes(output.head ?? DEFAULT_HEAD), tail: sizeBytes(output.tail ?? DEFAULT_TAIL) },
    keepBodies: !unlisted && rule?.sensitive !== true && output.bodies !== 'drop',
  };
}

function fits(rule: PolicyRule, asked: Asked): boolean {
  if ('text' in asked)
    return rule.argv === undefined && (rule.script === undefined || matches(rule.script, asked.text.trim()));
  return rule.script === undefined && (rule.argv === undefined || fitsArgv(rule.argv, asked.argv));
}

function fitsArgv(patterns: readonly string[], argv: readonly string[]): boolean {
  const open = patterns.at(-1) === '**';
  const fixed = open ? patterns.slice(0, -1) : patterns;
  if (open ? argv.length < fixed.length : argv.length !== fixed.length) return false;
  return fixed.every((pattern, index) => matches(pattern, argv[index] ?? ''));
}

function fitsProgram(rule: PolicyRule, opened: OpenedProgram | undefined): boolean {
  const wanted = rule.executable;
  if (wanted === undefined) return true;
  // What could not be opened may be what is denied, and is never what is allowed.
  if (opened === undefined) return rule.outcome === 'deny';
  const pathFits = wanted.path?.some((pattern) => picomatch.isMatch(opened.path, pattern, { dot: true })) ?? true;
  return pathFits && (wanted.sha256?.includes(opened.sha256) ?? true);
}

/** In arguments and texts `*` stands for anything, slashes and line ends included. */
function matches(pattern: string, text: string): boolean {
  const parts = pattern.split('*');
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (parts.length === 1) return text === pattern;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let position = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return position <= text.length - last.length;
}
