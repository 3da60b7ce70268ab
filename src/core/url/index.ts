/**
 * From a URL to its origin and its target, as the URL Standard serialises them. Pure: it imports `base/` alone.
 */
export {
  detachedString,
  isRobotsTarget,
  locate,
  LocatedUrl,
  MAX_URL_BYTES,
  originOf,
  ROBOTS_PATH,
  targetOf,
  tooLong,
} from './origin.ts';
export { removeDotSegments } from './dot-segments.ts';
export { BYTE_MASK, encoder } from './serialised-url.ts';
export { DistinctOrigins } from './distinct-origins.ts';
