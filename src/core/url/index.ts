/**
 * From a URL to its origin and its target, as the URL Standard serialises them. Pure: it imports `base/` alone.
 */
export {
  detachedString,
  DistinctOrigins,
  isRobotsTarget,
  locate,
  LocatedUrl,
  MAX_URL_BYTES,
  originOf,
  removeDotSegments,
  ROBOTS_PATH,
  targetOf,
  tooLong,
} from './origin.ts';
export { BYTE_MASK, encoder } from './serialised-url.ts';
