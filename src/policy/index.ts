export { type Asked, type Decision, decide, type Terms, termsFor } from './decide.ts';
export { type EnvironmentPlan, planEnvironment } from './environment.ts';
export { builtInPolicy, type Policy } from './policy.ts';
export { parseDuration } from './quantities.ts';
