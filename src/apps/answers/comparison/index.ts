/**
 * Two robots.txt files compared: which rules changed for which agents, and which URLs are decided differently. It must not
 * import a library.
 */
export {
  type AgentDifference,
  type ComparedFile,
  type ComparisonRecord,
  FileComparison,
  type RecordChange,
  type SideVerdict,
  type VerdictChange,
} from './compare.ts';
export type { RuleChange } from './rule-changes.ts';
