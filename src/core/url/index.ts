/**
 * From a URL to its origin and its target, as the URL Standard serialises them. Pure: it imports `base/` alone.
 */
export {
  cleanInPlace,
  detachedString,
  DistinctOrigins,
  isRobotsTarget,
  isSentAsGiven,
  locate,
  LocatedUrl,
  MAX_URL_BYTES,
  originOf,
  removeDotSegments,
  ROBOTS_PATH,
  sentUrl,
  targetOf,
  tooLong,
} from './origin.ts';
export { BYTE_MASK, encoder } from './serialised-url.ts';
