import { isDigit, isLower, isUpper } from './charset.ts';
import { REPLACEMENT_START } from './replacement.ts';

/** The first bytes of an assigned value and how they were written. */
export interface ValueHead {
  /** At most HEAD_BYTES. */
  readonly text: string;
  /** The byte after the value; -1 at the end of the text; undefined when the value goes on past the head. */
  readonly terminator: number | undefined;
  readonly isQuoted: boolean;
  /** `password=x`, against `password: x` and `password = x`, which prose and program text also have. */
  readonly isTight: boolean;
  /** The keyword announces a password, so that plain words are believed. */
  readonly isTrusted: boolean;
}

const SHORTEST = 6;
const MASKS = new Set('*xX.#-_=\u2022');
const WORDS_NOT_VALUES = new Set(
  (
    'undefined boolean string number object function symbol unknown optional required missing invalid expired revoked ' +
    'incorrect rejected accepted denied disabled enabled default nullable hidden masked redacted removed secret secrets ' +
    'password passwords passwd passphrase credential credentials bearer failed failure passed success successful ' +
    'authenticated unauthorized forbidden generated provided configured present absent inherit prompt readonly unchanged ' +
    'changed updated created deleted rotated verified unverified unsupported sensitive plaintext encrypted identifier'
  ).split(' '),
);
const REFERENCE = /^(?:VALUE_SPECIFIED_IN_NO_LOG|\$[({]|\$env:|\{|%[A-Za-z_]\w*%|<[^>]*>?$|\$?\[[A-Za-z ]+\]?$)/;
const VARIABLE = /^\$[A-Za-z_]\w*$/;
const CALL_OR_INDEX = /^[A-Za-z_$][\w$]*(?:[.:>-]+[A-Za-z_$][\w$]*)*[([]/;
const MEMBER_PATH = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/;
const REPLACEMENT = REPLACEMENT_START.toString();
const LINE_ENDS = new Set([-1, 0x0a, 0x0d, 0x2c, 0x7d, 0x22, 0x27]);

/** Whether an assigned value may be a secret rather than a placeholder, a reference, a type or a word of prose. */
export function isPlausible(head: ValueHead): boolean {
  const { text } = head;
  if (text.length < SHORTEST || isMask(text)) return false;
  if (text.includes(REPLACEMENT) || REFERENCE.test(text) || VARIABLE.test(text)) return false;
  if (text.includes('://') || WORDS_NOT_VALUES.has(text.toLowerCase())) return false;
  if (head.isQuoted) return isPlausibleQuoted(head);
  if ('[({@'.includes(text.charAt(0))) return false;
  if (CALL_OR_INDEX.test(text) || (MEMBER_PATH.test(text) && !hasDigit(text))) return false;
  return head.isTight || isPlausibleLoose(head);
}

function isMask(text: string): boolean {
  const first = text.charAt(0);
  return [...text].every((character) => character === first) || [...text].every((character) => MASKS.has(character));
}

/** Sentences are no secrets, unless they are meant to be: a passphrase, or a password with a digit. */
function isPlausibleQuoted({ text, isTrusted }: ValueHead): boolean {
  if (!text.includes(' ')) return true;
  return isTrusted && hasDigit(text);
}

function isPlausibleLoose({ text, terminator, isTrusted }: ValueHead): boolean {
  const digits = hasDigit(text);
  if (digits && hasLetter(text)) return true;
  if (!isTrusted) return false;
  // A word of prose is followed by a space; a value ends its line.
  return digits || terminator === undefined || LINE_ENDS.has(terminator);
}

function hasDigit(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (isDigit(text.charCodeAt(i))) return true;
  return false;
}

function hasLetter(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isLower(code) || isUpper(code)) return true;
  }
  return false;
}
