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
  didYouMean,
  isUrl,
  readOrigin,
} from './load-robots.ts';
export { inputSentence } from './invalid-input.ts';
export { openList, type ReadRobots, readRobots } from './load-robots.ts';
export { ListPosition, type Target, targetLines, targets } from './targets.ts';
