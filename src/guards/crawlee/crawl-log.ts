import type { Refusal } from '../../core/client/refusal-errors.ts';
import type { LongWait } from '../shared/wait-warnings.ts';
import type { Crawler, SkippedRequest } from './types.ts';

/** Beyond it, links may be reported again. */
const MAX_SKIPPED = 100_000;
/** The sites that are named at the end. */
const MAX_NAMED = 10;

/** What the log of a crawler says of one run: what is waited for, and what was skipped. */
export class CrawlLog {
  readonly #log: Crawler['log'];
  /** The origins that are waited for. */
  readonly #announced = new Set<string>();
  /** URLs: a link may stand on every page. */
  readonly #skipped = new Set<string>();
  /** How many of them, by site and reason. */
  readonly #counts = new Map<string, number>();

  constructor(log: Crawler['log']) {
    this.#log = log;
  }

  /** Requests for a site wait. @param waiting How many. */
  waits({ origin, until, cause }: LongWait, waiting: number): void {
    if (this.#announced.has(origin)) return;
    this.#announced.add(origin);
    this.#log.info(
      `Waits for ${origin} until ${new Date(until).toISOString()}: ${cause}. Requests that wait: ${waiting}`,
    );
  }

  /** A URL is skipped. Returns whether that is news. */
  skips({ url }: SkippedRequest, refusal: Refusal | undefined): boolean {
    if (this.#skipped.has(url)) return false;
    if (this.#skipped.size >= MAX_SKIPPED) this.#skipped.clear();
    this.#skipped.add(url);
    if (refusal !== undefined) {
      const what = `${refusal.decision.origin} (${reasonOf(refusal)})`;
      this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
    }
    return true;
  }

  /** The run has ended. */
  end(): void {
    const all = [...this.#counts].sort(([, one], [, other]) => other - one);
    const total = all.reduce((sum, [, count]) => sum + count, 0);
    const named = all.slice(0, MAX_NAMED).map(([what, count]) => `${count} of ${what}`);
    if (all.length > MAX_NAMED) named.push(`${all.length - MAX_NAMED} further sites`);
    if (total > 0) this.#log.info(`Skipped ${counted(total)}: ${named.join(', ')}`);
    for (const each of [this.#announced, this.#skipped, this.#counts]) each.clear();
  }
}

function counted(requests: number): string {
  return requests === 1 ? '1 request' : `${requests} requests`;
}

function reasonOf({ code, retryAt, decision }: Refusal): string {
  const { error, status } = decision.robots;
  if (code === 'ERR_ROBOTS_DISALLOWED') return 'disallowed';
  if (code === 'ERR_ROBOTS_USAGE') return 'not wanted for the purpose';
  if (code === 'ERR_ROBOTS_DEFERRED') return 'busy';
  return `robots.txt unreachable, ${status ?? error}${retryAt === undefined ? ', for good' : ''}`;
}
