export { createRedactor } from './redactor.ts';
export { defaultRuleset } from './rules/index.ts';
export type {
  Literal,
  RedactedChunk,
  RedactionTotals,
  Redactor,
  Rule,
  Ruleset,
  RulesetIdentity,
  StreamRedactor,
} from './types.ts';
