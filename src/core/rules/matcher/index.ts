/**
 * Finds the rule of a file that decides about a target for an agent. Three functions: `matchOnce` for the one question
 * that most files are asked, `compile` for many questions, `matchingRules` for those who ask which other rules fit.
 *
 * How they are that quick is nobody else's business: import this file alone. README.md says it to who changes it.
 */
export { compile } from './compile.ts';
export { type FittingRule, matchingRules, matchOnce } from './match-once.ts';
export type { WrittenRule } from './rule.ts';
export { NO_RULE, type Ruleset } from './ruleset.ts';
export type { Selection } from './select.ts';
