import { type Static, Type } from 'typebox';
import { BINDING_METHODS } from '../contract/codes.ts';
import { Closed, OneOf, Sha256Hex } from '../contract/schema/primitives.ts';

const Globs = Type.Array(Type.String({ minLength: 1 }));
/** A number of bytes, or with a unit: `64KiB`, `1MiB`. */
const Size = Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: '^[0-9]+ ?(B|KiB|MiB|kB|MB)$' })]);
/** `90s`, `10m`, `2h`. */
const Duration = Type.String({ pattern: '^[0-9]+ ?(ms|s|m|h)$' });

const Output = Closed({
  head: Type.Optional(Size),
  tail: Type.Optional(Size),
  /** Whether what is printed is kept at all; counts and digests always are. */
  bodies: Type.Optional(OneOf(['keep', 'drop'] as const)),
});

const EnvironmentRules = Closed({
  /** Names and patterns that pass; absent: everything but what is withheld. */
  allow: Type.Optional(Globs),
  /** Names and patterns whose values are secrets, beside the built-in ones. */
  secrets: Type.Optional(Globs),
  /** Refuse a command whose environment steers loaders and interpreters (`LD_PRELOAD`, `NODE_OPTIONS`, …). */
  loaderControl: Type.Optional(OneOf(['pass', 'refuse'] as const)),
});

const Rule = Closed({
  id: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]{0,63}$' }),
  /** One pattern per argument; a last `**` stands for any further ones. */
  argv: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
  /** For `--shell` texts: a pattern over the whole text. */
  script: Type.Optional(Type.String({ minLength: 1 })),
  /** Decided on the file that was opened, not on the name that was asked for. */
  executable: Type.Optional(Closed({ path: Type.Optional(Globs), sha256: Type.Optional(Type.Array(Sha256Hex)) })),
  outcome: Type.Optional(OneOf(['allow', 'deny'] as const)),
  timeout: Type.Optional(Duration),
  binding: Type.Optional(Type.Array(OneOf(BINDING_METHODS), { minItems: 1 })),
  output: Type.Optional(Output),
  /** Output is counted and not kept. */
  sensitive: Type.Optional(Type.Boolean()),
});

export const PolicyDocument = Closed({
  version: Type.Literal(1),
  default: Type.Optional(OneOf(['allow', 'deny'] as const)),
  binding: Type.Optional(Type.Array(OneOf(BINDING_METHODS), { minItems: 1 })),
  timeout: Type.Optional(Duration),
  output: Type.Optional(Output),
  environment: Type.Optional(EnvironmentRules),
  commands: Type.Optional(Type.Array(Rule)),
});

export type PolicyDocument = Static<typeof PolicyDocument>;
export type PolicyRule = Static<typeof Rule>;
