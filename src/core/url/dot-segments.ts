/** A single-dot or, with a second dot, a double-dot URL path segment (URL Standard §4.1). */
const DOTS = /^(?:\.|%2e)(\.|%2e)?$/i;

/** Scheme, the empty segment between the two slashes, and host. */
const SITE_SEGMENTS = 3;

/**
 * Removes the dot segments of a URL that a URL parser has serialised: `http://host/a/../b` → `http://host/b`.
 *
 * Every URL parser should have done so (URL Standard §4.4, path state), but Node 20 and 22 keep dot segments after a
 * segment that starts with a dot: `new URL('http://host/docs/.cfg/../private').pathname` is `/docs/.cfg/../private`
 * there. A server that removes them would then serve a path that was not matched with the rules.
 *
 * @param href The `href` of an http, https or ftp URL.
 * @returns The same string when it has no dot segment.
 */
export function removeDotSegments(href: string): string {
  if (!href.includes('/.')) return href;
  const end = href.search(/[?#]|$/);
  const kept: string[] = [];
  let dots: RegExpExecArray | null = null;
  for (const segment of href.slice(0, end).split('/')) {
    dots = kept.length < SITE_SEGMENTS ? null : DOTS.exec(segment);
    if (dots === null) kept.push(segment);
    else if (dots[1] !== undefined && kept.length > SITE_SEGMENTS) kept.pop();
  }
  // `/a/..` is `/`: "if c is neither U+002F (/) … append the empty string".
  if (dots !== null) kept.push('');
  return kept.join('/') + href.slice(end);
}
