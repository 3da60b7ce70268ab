import { invalid, RobotsInvalidOptionsError } from '../base/index.ts';
import type { Decision } from '../decision/index.ts';

/**
 * What shares one queue, one gap, one `concurrency` and one pause. `'host'`: a host name and its port, whatever the
 * scheme. `'origin'`: as the rules of robots.txt. A function: the URLs for which it returns the same text.
 */
export type PacingScope = 'host' | 'origin' | ((url: URL) => string);

/**
 * The host of a serialised origin, with its port unless that is the default of the scheme. A trailing dot of the name is
 * dropped: `a.` and `a` are one server.
 */
export function hostOf(origin: string): string {
  const host = origin.slice(origin.indexOf('://') + 3);
  return host.endsWith('.') || host.includes('.:') ? host.replace(/\.(?=:\d+$|$)/, '') : host;
}

/** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the function throws, or returns no text. */
export function scopeOf(scope: PacingScope, { url, origin }: Pick<Decision, 'url' | 'origin'>): string {
  if (scope === 'host') return hostOf(origin);
  if (scope === 'origin') return origin;
  let key: unknown;
  try {
    key = scope(new URL(url));
  } catch (cause) {
    throw new RobotsInvalidOptionsError(`Expected \`scope\` to return text for ${url}, but it threw`, {
      cause,
    });
  }
  if (typeof key === 'string' && key !== '') return key;
  throw invalid(`\`scope(${url})\``, 'text that is not empty', key);
}
