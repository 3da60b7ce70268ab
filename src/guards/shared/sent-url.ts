import { removeDotSegments } from '../../core/url/index.ts';

/** What a URL parser may turn into a path with a dot segment. */
const UNSERIALISED = /\/\.|[\t\n\r\\]/;

/** Whether {@link sentUrl} returns a URL unchanged, as for nearly every request. */
export function isSentAsGiven(url: string): boolean {
  return !UNSERIALISED.test(url);
}

/**
 * The URL that is sent in place of `url`: without the dot segments that Node 20 and 22 leave in it. It is also
 * the URL that is decided: a server would remove the dot segments, too.
 */
export function sentUrl(url: string): string {
  if (isSentAsGiven(url) || !URL.canParse(url)) return url;
  const { href, protocol } = new URL(url);
  return protocol === 'http:' || protocol === 'https:' ? removeDotSegments(href) : url;
}

/** {@link sentUrl} of a URL that a library sends as this very object. */
export function cleanInPlace(url: URL): void {
  const sent = sentUrl(url.href);
  if (sent !== url.href) url.href = sent;
}
