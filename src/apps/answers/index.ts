/**
 * Renders decisions and files as text and JSON, for `cli/`, `serve/` and `mcp/`. `text/` and `input/` have an
 * `index.ts` of their own; `schema.ts` stands apart, because it loads zod: nothing else here may import a library, so that
 * `canfetch --help` and `canfetch --robots` stay fast. This module must not import the client or a module above it.
 */
export {
  annotate,
  type AnnotatedLine,
  type OmittedLines,
  groupLines,
  linesOf,
  type ClientExplanation,
  explainFile,
  explainUrl,
  type ProfileDecision,
  runnerUpOf,
  type UrlExplanation,
} from './explanation.ts';
export {
  deciderByFile,
  decideOffline,
  fileSource,
  notATarget,
  tokensOf,
  truncationWarning,
  usageFor,
} from './decide-offline.ts';
export {
  type TargetResult,
  type Decider,
  type InputError,
  isUndecided,
  isUnwanted,
  type ReportedDecision,
  tooLongError,
} from './target-result.ts';
export { type Session, UsageError } from './session.ts';
