/**
 * Reads a robots.txt file and decides by its rules. Also published as `canfetch/rules`.
 *
 * Pure: it must not import Node or a library; no network, no clock, no randomness. It imports only `url/` and the
 * pure files of `base/`.
 */
export { productToken } from './agent.ts';
export type {
  AgentLine,
  Group,
  MatchedGroup,
  MatchedRule,
  OtherRecord,
  RuleVerdict,
  Sitemap,
  Verdict,
} from './describe.ts';
export type { Diagnostic, DiagnosticCode, Severity } from './lint/diagnostic.ts';
export type { Dialect } from './dialect.ts';
export { explain, type Explanation } from './explain.ts';
export { parseRobots, type ParseOptions, type RobotsFile } from './file.ts';
export { lint, type LintOptions } from './lint/lint.ts';
export {
  type ImagePreview,
  type MetaTag,
  type PageDirectives,
  pageDirectives,
  type PageDirectivesInput,
  type PageDirectiveSource,
} from './page/page-directives.ts';
export { requestRate } from './other-records.ts';
export { statedBy, usage, type Usage, type UsageOptions } from './usage/usage.ts';
export type { Preference, Statement, UsageSource, UseLevel } from './usage/usage-source.ts';
