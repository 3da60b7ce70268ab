import type { AnswerHeaders } from '../../lifecycle/index.ts';
import type { PolicyAttempt, PolicyHop } from '../../decision/index.ts';
import { printable } from '../../report/text/index.ts';

/** Requests and answers, the way curl -v shows them. */
export function verboseHops({ hops, headers, error }: PolicyAttempt): string[] {
  return hops.flatMap((hop, index) => {
    const isLast = index === hops.length - 1;
    return [
      `> GET ${printable(hop.url)}`,
      ...(hop.status === undefined ? [] : [`< ${hop.status}`]),
      ...(hop.location === undefined ? [] : [`< location: ${printable(hop.location)}`]),
      ...(isLast ? fieldLines(headers) : []),
      ...(isLast && error !== undefined && error !== 'ERR_ROBOTS_STATUS' ? [`* ${printable(error)}`] : []),
    ];
  });
}

/** The way in one line: `301 → https://www.example.com/robots.txt 200`. */
export function shortHops(hops: readonly PolicyHop[]): string {
  return hops
    .map(({ url, status }) => [printable(url), ...(status === undefined ? [] : [String(status)])].join('  '))
    .join(' → ');
}

const FIELDS = [
  ['contentType', 'content-type'],
  ['cacheControl', 'cache-control'],
  ['expires', 'expires'],
  ['age', 'age'],
  ['date', 'date'],
  ['etag', 'etag'],
  ['lastModified', 'last-modified'],
  ['retryAfter', 'retry-after'],
] as const;

function fieldLines(headers: AnswerHeaders): string[] {
  return FIELDS.flatMap(([key, name]) => {
    const value = headers[key];
    return value === undefined ? [] : [`< ${name}: ${printable(value)}`];
  });
}
