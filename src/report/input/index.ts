/**
 * Reads input: lists of URLs, files and standard input. It must not import the client; callers that read from an
 * origin pass one in.
 */
export {
  absenceOf,
  type LoadedRobots,
  loadedFrom,
  type PolicyClient,
  readsStdin,
  RobotsLoader,
  type RulesInForce,
  rulesInForce,
} from './load-robots.ts';
export { inputSentence } from './invalid-input.ts';
export { ListPosition } from './list-position.ts';
export { didYouMean, isUrl, readOrigin } from './read-origin.ts';
export { type ReadRobots, readRobots, whyUnreadable } from './read-robots.ts';
export { type Target, targetLines, targets } from './targets.ts';
