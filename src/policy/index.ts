export { type Asked, type Decision, decide, type OpeningTerms, openingTerms, type Terms } from './decide.ts';
export { type EnvironmentPlan, planEnvironment } from './environment.ts';
export { builtInPolicy, type Policy } from './policy.ts';
export { parseDuration } from './quantities.ts';
