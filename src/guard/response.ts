import type { Decision } from '../decision.ts';

const FORBIDDEN = 403;
const SERVICE_UNAVAILABLE = 503;
const SECOND_MS = 1_000;
/** Patterns are foreign and may be long; fields of more than a few KiB make some readers fail. */
const MAX_FIELD_LENGTH = 1_024;

/** The answer a refused request gets when the caller wants one instead of an error. No site sent it. */
export function refusalResponse(decision: Decision): Response {
  const unreachable = decision.reason === 'unreachable';
  const headers = new Headers({
    'content-type': 'text/plain; charset=utf-8',
    'x-robots-reason': decision.reason,
  });
  const { rule, retryAt } = decision;
  if (rule !== undefined) headers.set('x-robots-rule', fieldValue(`${rule.directive}: ${rule.pattern}`));
  if (unreachable && retryAt !== undefined) {
    // Rounded up: one who comes back at that second must not come too early.
    const date = new Date(Math.ceil(retryAt / SECOND_MS) * SECOND_MS);
    headers.set('retry-after', date.toUTCString());
  }
  return new Response(unreachable ? 'robots.txt is unreachable\n' : 'robots.txt disallows this URL\n', {
    status: unreachable ? SERVICE_UNAVAILABLE : FORBIDDEN,
    statusText: unreachable ? 'robots.txt Unreachable' : 'Disallowed by robots.txt',
    headers,
  });
}

/** RFC 9110 §5.5 leaves a field value visible ASCII and spaces; whatever else a pattern holds is escaped. */
function fieldValue(text: string): string {
  const escaped = text.replaceAll(/[^\x20-\x7e]/gu, (character) => escapeOctets(character));
  return escaped.slice(0, MAX_FIELD_LENGTH).trim();
}

function escapeOctets(character: string): string {
  return [...new TextEncoder().encode(character)]
    .map((octet) => `%${octet.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
}
