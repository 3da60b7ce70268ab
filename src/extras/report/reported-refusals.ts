import { omitUndefined } from '../../core/base/index.ts';
import type { Decision, RedirectChain } from '../../core/decision/index.ts';
import { detachedString } from '../../core/url/index.ts';
import { type ReportedOrigin, type ReportedRefusal, refusedIn } from './report-text.ts';

/** Pairs of origin and rule that are kept, each with an example. */
const MAX_ROWS = 1_000;
const MAX_URL = 2_000;
const MAX_TEXT = 200;

type RefusedRequest = { readonly decision: Decision } & Partial<RedirectChain>;

interface Row {
  refused: number;
  linksRefused: number;
  readonly example: ReportedRefusal;
}

/** The refusals of an account, by origin and rule. */
export class ReportedRefusals {
  readonly #rows = new Map<string, Row>();
  /** Refusals without a row. */
  unlisted = 0;

  add(request: RefusedRequest, reason: ReportedRefusal['reason'], what: 'refused' | 'linksRefused'): void {
    const key = keyOf(request.decision, reason);
    const known = this.#rows.get(key);
    if (known !== undefined) known[what]++;
    else if (this.#rows.size < MAX_ROWS) {
      const row = { refused: 0, linksRefused: 0, example: refusalOf(request, reason) };
      row[what]++;
      this.#rows.set(detachedString(key), row);
    } else this.unlisted++;
  }

  mostFrequentFirst(): ReportedOrigin[] {
    return Array.from(this.#rows.values(), ({ refused, linksRefused, example }) => {
      const { origin, reason } = example;
      return { origin, reason, refused, linksRefused, example };
    }).sort((one, other) => refusedIn(other) - refusedIn(one));
  }
}

/** The same for all refusals of an origin by one rule, statement or state. */
function keyOf({ origin, rule, robots, usage }: Decision, reason: ReportedRefusal['reason']): string {
  if (reason === 'usage')
    return `${origin} usage ${usage?.source?.line} ${cutText(usage?.source?.value ?? '')}`;
  return rule === undefined
    ? `${origin} ${reason} ${robots.status ?? robots.error}`
    : `${origin} ${reason} ${rule.line} ${cutText(rule.pattern)}`;
}

/** What is told of a refused URL. */
export function refusalOf(
  { decision, requested }: RefusedRequest,
  reason: ReportedRefusal['reason'],
): ReportedRefusal {
  const { origin, url, rule, robots, usage } = decision;
  const base = {
    origin: detachedString(origin),
    reason,
    url: cutText(url, MAX_URL),
    ...(requested === undefined || requested === url ? {} : { requested: cutText(requested, MAX_URL) }),
  };
  if (reason === 'usage') {
    const stated = usage?.source;
    if (stated === undefined) return base;
    const { directive, value, line } = stated;
    const statement = { directive, value: cutText(value), ...omitUndefined({ line }) };
    return { ...base, statement };
  }
  if (rule !== undefined) {
    const { directive, pattern, line } = rule;
    return { ...base, rule: { directive, pattern: cutText(pattern), line } };
  }
  const cause = robots.status ?? robots.error;
  return cause === undefined ? base : { ...base, robots: String(cause) };
}

/** A copy, so that the account does not hold the whole file that a pattern was read from. */
export function cutText(text: string, length: number = MAX_TEXT): string {
  return detachedString(text.length > length ? `${text.slice(0, length)}…` : text);
}
