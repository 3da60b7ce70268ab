/**
 * Finds the rule of a file that decides about a target for an agent: `matchOnce` for the one question that most files get,
 * `compile` for many questions, `matchingRules` for a list of all rules that match.
 *
 * Import only this file. How the rest works is an implementation detail; see README.md if you change it.
 */
export { compile } from './compile.ts';
export { type MatchingRule, matchingRules, matchOnce } from './match-once.ts';
export type { WrittenRule } from './rule-cursor.ts';
export { NO_RULE, type Ruleset } from './ruleset.ts';
export type { Selection } from './select.ts';
