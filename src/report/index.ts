/**
 * Decisions and files in words and in JSON, for `cli/` and `serve/` alike. `text/` and `input/` are doors of their own.
 * It must not import the client or anything above, nor a library, and loads none: `canfetch --help` and
 * `canfetch --robots` are quick.
 */
export { annotate, type AnnotatedLine, type Gap, groupLines, linesOf } from './annotate.ts';
export {
  deciderByFile,
  decideOffline,
  fileSource,
  notATarget,
  tokensOf,
  truncationWarning,
} from './decide-offline.ts';
export { explainFile, explainServed, type ProfileDecision, type UrlExplanation } from './explanation.ts';
export { policyRecord } from './policy-json.ts';
export {
  type Answer,
  type Decider,
  type InputError,
  isUndecided,
  type ReportedDecision,
  tooLongError,
} from './answer.ts';
export type { Session } from './session.ts';
export { UsageError } from './usage-error.ts';
