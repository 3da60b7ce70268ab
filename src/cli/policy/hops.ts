import { ANSWER_FIELDS, type AnswerHeaders } from '../../lifecycle/index.ts';
import type { PolicyAttempt, PolicyHop } from '../../decision/index.ts';
import { printable } from '../../report/text/index.ts';

/** Renders requests and responses in the format of `curl -v`. */
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

/** Renders the redirects on one line: `301 → https://www.example.com/robots.txt 200`. */
export function shortHops(hops: readonly PolicyHop[]): string {
  return hops
    .map(({ url, status }) => [printable(url), ...(status === undefined ? [] : [String(status)])].join('  '))
    .join(' → ');
}

function fieldLines(headers: AnswerHeaders): string[] {
  return ANSWER_FIELDS.flatMap(([key, name]) => {
    const value = headers[key];
    return value === undefined ? [] : [`< ${name}: ${printable(value)}`];
  });
}
