/**
 * What people hand in: URLs a line, files, standard input. It must not import the client: whoever reads from an origin
 * hands one in.
 */
export { absenceOf, type LoadedRobots, type PolicyClient, readsStdin, RobotsLoader } from './load-robots.ts';
export { listShare } from './list-share.ts';
export { didYouMean, readOrigin } from './read-origin.ts';
export { readRobots, whyUnreadable } from './read-robots.ts';
export { type Target, targetLines, targets } from './targets.ts';
