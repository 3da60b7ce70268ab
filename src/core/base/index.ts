/**
 * What every module may use: errors, the clock, abort signals, shared defaults. It must not import any other module, a
 * library, or Node. One concept per file; not a junk drawer.
 */
export {
  abortSignalOf,
  LightAbortController,
  type LightAbortSignal,
  onAbort,
  orAborted,
  untilAborted,
} from './abort.ts';
export {
  builtin,
  channel,
  type Publisher,
  sha256Now,
  sha256Of,
  type TracedWork,
  tracedWork,
} from './builtin.ts';
export { causesOf, codeOf, FETCH_FAILED, MALFORMED } from './causes.ts';
export {
  type Clock,
  yieldToEventLoop,
  sleepInBackground,
  sleepWith,
  MonotonicClock,
  systemClock,
  TimeSlice,
} from './clock.ts';
export { ignore, omitUndefined } from './values.ts';
export { truncate, urlWithoutUserinfo } from './printable.ts';
export {
  DEFAULT_AGENT,
  DEFAULT_CONCURRENCY,
  DEFAULT_DEADLINE_MS,
  DEFAULT_MAX_BODY_BYTES,
  VERSION,
} from './defaults.ts';
export {
  isRobotsError,
  quote,
  RobotsAddressRefusedError,
  RobotsClosedError,
  RobotsError,
  type RobotsErrorCode,
  RobotsEvidenceError,
  RobotsInvalidOptionsError,
  RobotsInvalidUrlError,
} from './errors.ts';
export {
  alternatives,
  assertKnownOptions,
  closestChoice,
  invalid,
  isWithinEditDistance,
} from './invalid-options.ts';
export { invokeListener, emitWarning, warnOnce } from './warning.ts';
export {
  func,
  allOf,
  abortSignal,
  hasMethod,
  type Check,
  predicate,
  faultOf,
  fields,
  isFunction,
  isText,
  listOf,
  textMatching,
  milliseconds,
  nonEmptyText,
  oneOf,
  optional,
  optionTable,
  passes,
  record,
  wholeNumber,
} from './option-table.ts';
export { Lazy } from './lazy.ts';
export { mockHint } from './mocks.ts';
export { mapBatches, mapConcurrent, type MapOptions } from './map-concurrent.ts';
