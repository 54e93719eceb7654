import type { Ruleset } from '../types.ts';
import { cloudRules } from './cloud.ts';
import { genericRules } from './generic.ts';
import { modelRules } from './models.ts';
import { serviceRules } from './services.ts';
import { sourceHostingRules } from './source-hosting.ts';

/**
 * Formats as vendors document them and public rule packs know them. Checksums are not asked for: a token with a
 * wrong one is redacted all the same. A change here needs a new version.
 */
export const defaultRuleset: Ruleset = {
  id: 'command-receipts',
  version: '1.0.0',
  rules: [...sourceHostingRules, ...cloudRules, ...serviceRules, ...modelRules, ...genericRules],
};
