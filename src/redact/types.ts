/** Asked for a decision on bytes that satisfied a rule; `false` lets them pass. May throw: the stream then fails closed. */
export type VerifyHook = (bytes: Uint8Array, start: number, end: number) => boolean;

interface RuleBase {
  readonly id: string;
  /** Parts of a text that this rule must redact; joined at run time, so that no scanner flags the source. */
  readonly example: readonly string[];
  /** Most bytes one candidate may look at before the engine gives up on the rule and fails closed. */
  readonly budget?: number;
  /** Not part of the ruleset's digest and not asked during the self-test. */
  readonly verify?: VerifyHook;
}

/** A fixed anchor followed by a run of a charset: `ghp_…`. The run is swallowed whole, whatever its length. */
export interface TokenRule extends RuleBase {
  readonly kind: 'token';
  readonly anchors: readonly string[];
  /** Ranges as in a regular expression's brackets: `A-Za-z0-9_-`. */
  readonly charset: string;
  /** Bytes of the charset that must follow the anchor. */
  readonly minimum: number;
  /** A longer run is something else (a digest, say). Without it a run of any length is swallowed. */
  readonly maximum?: number;
  /** `word`: no letter, digit or underscore directly before the anchor (escape sequences do not count as letters). */
  readonly boundary?: 'word';
  /** The anchor is no secret and stays visible: `AccountKey=`. */
  readonly keepAnchor?: true;
  /** Only together with `keepAnchor`. */
  readonly ignoreCase?: true;
  /** Decimal digits that must stand directly before the anchor. */
  readonly digitsBefore?: number;
  /** What the first bytes must look like beyond the charset; see shape.ts. */
  readonly shape?: 'dense' | 'segments' | 'credentials';
  /** Beginnings, anchor included, that are known to be harmless. */
  readonly except?: readonly string[];
}

/** A name, a separator and a value, in shell, JSON, YAML, XML and header notation. Only the value is redacted. */
export interface AssignmentRule extends RuleBase {
  readonly kind: 'assignment';
  /** Lower case, of `a-z0-9_-` only; matched without regard to case, also at the end of a longer name. */
  readonly keywords: readonly string[];
  /** The keywords among them whose unquoted values are believed also when they are plain words. */
  readonly trusted?: readonly string[];
  /** The keywords among them that must not be the end of a longer word, and whose value is no absolute path. */
  readonly wholeWord?: readonly string[];
  /** Words that may stand before the value: `Bearer`. */
  readonly schemes?: readonly string[];
  /** `guess`: plausible.ts decides; `line`: the whole line, if it has a `=`; otherwise a run like a token's. */
  readonly value: 'guess' | 'line' | { readonly charset: string; readonly minimum: number };
}

/** `scheme://user:password@host`. Only the password is redacted. */
export interface UrlRule extends RuleBase {
  readonly kind: 'url-password';
}

/** From `-----BEGIN …label…-----` to the matching `-----END …-----`, or to the end of the stream. */
export interface BlockRule extends RuleBase {
  readonly kind: 'block';
  readonly label: string;
}

export type Rule = TokenRule | AssignmentRule | UrlRule | BlockRule;

export interface Ruleset {
  readonly id: string;
  readonly version: string;
  /** Where two matches start and end together, the rule listed first names the replacement. */
  readonly rules: readonly Rule[];
}

export interface RulesetIdentity {
  readonly id: string;
  readonly version: string;
  /** `sha256:` and hex, over the RFC 8785 form of the rule data. */
  readonly digest: string;
}

/** A known secret. The name may be recorded in receipts, the value never. */
export interface Literal {
  readonly name: string;
  readonly value: string;
}

export interface RedactedChunk {
  /** Redacted bytes that are certain now; never written to again. */
  readonly bytes: Uint8Array;
  /** Where in `bytes` replacement texts stand, so that truncation never cuts inside one. */
  readonly replacements: ReadonlyArray<readonly [start: number, end: number]>;
}

/** After `end()`: observedBytes - removedBytes + insertedBytes = redactedBytes = the sum of the emitted bytes. */
export interface RedactionTotals {
  readonly observedBytes: number;
  readonly redactedBytes: number;
  readonly removedBytes: number;
  readonly insertedBytes: number;
  /** Replacements made, by rule id, sorted by type. */
  readonly hits: ReadonlyArray<{ readonly type: string; readonly count: number }>;
  /** Rule ids still open at the end, for example a PEM block without its END line. */
  readonly unterminated: readonly string[];
}

export interface StreamRedactor {
  push(bytes: Uint8Array): RedactedChunk;
  end(): RedactedChunk;
  totals(): RedactionTotals;
}

export interface Redactor {
  readonly ruleset: RulesetIdentity;
  /** Names of literals of which a part was too short or structural to be masked. */
  readonly skippedLiterals: readonly string[];
  /** One per output stream. */
  stream(): StreamRedactor;
  /** Whole-text redaction for paths, script text, environment names and error messages. */
  text(input: string): string;
  /** Each element redacted, and values that follow a telling option; the element count is kept. */
  argv(args: readonly string[]): string[];
  /** From the next pushed byte on, in every existing and future stream of this redactor. */
  addLiterals(literals: readonly Literal[]): void;
}
