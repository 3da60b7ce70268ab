import { omitUndefined, truncate, urlWithoutUserinfo } from '../../core/base/index.ts';
import type { Decision, RedirectChain } from '../../core/decision/index.ts';
import { detachedString } from '../../core/url/index.ts';
import { refusedIn } from './report-text.ts';
import type { ReportedRefusal, ReportedRefusals } from './reported.ts';

/** Pairs of origin and rule that are kept, each with an example. */
const MAX_ROWS = 1_000;
const MAX_URL = 2_000;
const MAX_TEXT = 200;

type RefusedRequest = { readonly decision: Decision } & Partial<RedirectChain>;

/** What a refusal is counted as. */
export type RefusalCount = 'refused' | 'linksRefused' | 'questionsRefused';

type Row = Omit<ReportedRefusals, RefusalCount> & Record<RefusalCount, number>;

/** The refusals of a crawl, by origin and rule, statement or state. */
export class RefusalCounts {
  readonly #rows = new Map<string, Row>();
  /** Refusals without a row. */
  unlisted = 0;

  add(request: RefusedRequest, reason: ReportedRefusal['reason'], count: RefusalCount): void {
    const example = refusalOf(request, reason);
    const { url: _, requested: __, ...cause } = example;
    const key = JSON.stringify(cause);
    let row = this.#rows.get(key);
    if (row === undefined) {
      if (this.#rows.size >= MAX_ROWS) return void this.unlisted++;
      const { origin } = example;
      row = { origin, reason, refused: 0, linksRefused: 0, questionsRefused: 0, example };
      this.#rows.set(key, row);
    }
    row[count]++;
  }

  mostFrequentFirst(): ReportedRefusals[] {
    return Array.from(this.#rows.values(), (row) => ({ ...row })).sort(
      (one, other) => refusedIn(other) - refusedIn(one),
    );
  }
}

/** What is reported about a refused URL. */
export function refusalOf(
  { decision, requested }: RefusedRequest,
  reason: ReportedRefusal['reason'],
): ReportedRefusal {
  const { origin, url, rule, robots, usage } = decision;
  const base = {
    origin: detachedString(origin),
    reason,
    url: truncatedUrl(url),
    ...omitUndefined({
      requested: requested === undefined || requested === url ? undefined : truncatedUrl(requested),
    }),
  };
  if (reason === 'usage') {
    const stated = usage?.source;
    if (stated === undefined) return base;
    const { directive, value, line } = stated;
    const statement = { directive, value: truncatedCopy(value), ...omitUndefined({ line }) };
    return { ...base, statement };
  }
  if (rule !== undefined) {
    const { directive, pattern, line } = rule;
    return { ...base, rule: { directive, pattern: truncatedCopy(pattern), line } };
  }
  const cause = robots.status ?? robots.error;
  return cause === undefined ? base : { ...base, robots: String(cause) };
}

/** A URL for logs: without user name and password. */
function truncatedUrl(url: string): string {
  return truncatedCopy(urlWithoutUserinfo(url), MAX_URL);
}

/** A copy, so that the report does not hold the whole file that a pattern was read from. */
export function truncatedCopy(text: string, length: number = MAX_TEXT): string {
  return detachedString(truncate(text, length));
}
