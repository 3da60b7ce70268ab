/**
 * Text, layout, colours and JSON for standard output. It must not import `rules/` or other modules that make decisions:
 * it only describes decisions.
 */
export {
  type ColourChoice,
  type Palette,
  paletteFor,
  truncateToWidth,
  definitions,
  grid,
  widthOf,
  wrap,
} from './layout.ts';
export { ago, ahead, count, duration, instant } from './layout.ts';
export { cause, failures, PRIVATE_ADDRESS, reasons, reasonText, whySentence } from './reasons.ts';
export { escapeForTerminal, jsonLine, type Unversioned } from '../../../core/base/printable.ts';
export { policyRecord, renderRecord } from './json.ts';
export {
  lifetimeReason,
  nextAttemptReason,
  agentSentence,
  delaySentence,
  purposeSentence,
  statementText,
  ruleText,
  looksNote,
  looksSentence,
  truncatedSentence,
} from './sentences.ts';
export { BrokenPipeError, Output, writeWhole } from './output.ts';
export { fileName, printable, quoted, withoutUserinfo } from '../../../core/base/printable.ts';
export { type Progress, progressOn } from './output.ts';
