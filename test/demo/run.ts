import pLimit from 'p-limit';
import { crawlReport } from '../../src/extras/report/crawl-report.ts';
import { RobotsClient } from '../../src/core/client/robots-client.ts';
import type { Decision } from '../../src/core/decision/decision.ts';
import { RobotsDisallowedError, RobotsUnreachableError } from '../../src/core/client/refusal-errors.ts';
import { guardFetch } from '../../src/guards/fetch/fetch.ts';
import { RobotsDeferredError } from '../../src/core/pacing/deferred.ts';
import { type PlannedUrl, plan, ROBOTS_REQUESTS_DESERVED } from './plan.ts';
import { type DemoSites, RETRY_AFTER_SECONDS, startSites } from './sites.ts';
import { table } from './table.ts';

export interface DemoOptions {
  /** Called after each URL. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface DemoResult {
  /** The table, ready to print. */
  readonly report: string;
  /** What is not as the sites were scripted to deserve; empty when all is well. */
  readonly differences: readonly string[];
}

/** What came of one URL. */
interface Crawled {
  readonly planned: PlannedUrl;
  readonly url: string;
  readonly decision: string;
  /** What the client decided on the URL, or on the redirect hop that was refused. */
  readonly decided: Decision | undefined;
}

const AGENT = 'DemoBot/1.0 (+https://example.com/bot)';
const CONCURRENCY = 4;
const DEADLINE_MS = 1_000;
/** Gaps that suit a demo. A pause is longer than a request waits here, so it is deferred. */
const PACING = { defaultDelayMs: 50, maxDelayMs: 10_000 };
const siteNames = ['rules', 'moved', 'canonical', 'none', 'busy', 'broken', 'hanging'] as const;

/** Crawls all sites through the guard, over real sockets, and holds the result against the plan. */
export async function runDemo({ onProgress }: DemoOptions = {}): Promise<DemoResult> {
  const { sites, close } = await startSites();
  const client = new RobotsClient({ agent: AGENT, deadlineMs: DEADLINE_MS });
  const account = crawlReport(client, { onFirstRefused: false });
  try {
    const guarded = guardFetch(fetch, client, { pacing: PACING });
    const limit = pLimit(CONCURRENCY);
    let done = 0;
    const crawled = await Promise.all(
      plan.map((planned) =>
        limit(async () => {
          const result = await crawl(planned, sites, guarded, client);
          onProgress?.(++done, plan.length);
          return result;
        }),
      ),
    );
    // Before `differences`, whose questions are none of the crawl.
    const ending = String(account);
    return { report: `${report(crawled, sites)}\n${ending}`, differences: differences(crawled, sites) };
  } finally {
    account.close();
    await client.close();
    await close();
  }
}

async function crawl(
  planned: PlannedUrl,
  sites: DemoSites,
  guarded: typeof fetch,
  client: RobotsClient,
): Promise<Crawled> {
  const url = sites[planned.site].url(planned.path);
  try {
    const response = await guarded(url);
    await response.arrayBuffer();
    return { planned, url, decision: `fetched ${response.status}`, decided: client.peek(url) };
  } catch (error) {
    if (error instanceof RobotsDisallowedError || error instanceof RobotsUnreachableError) {
      return { planned, url, decision: 'refused', decided: error.decision };
    }
    if (error instanceof RobotsDeferredError) {
      return { planned, url, decision: `deferred by ${error.delayFrom}`, decided: error.decision };
    }
    return { planned, url, decision: `failed: ${String(error)}`, decided: undefined };
  }
}

function report(crawled: readonly Crawled[], sites: DemoSites): string {
  const rows = crawled.map(({ planned, url, decision, decided }) => [
    planned.site,
    url,
    decision,
    decided === undefined ? '' : why(decided, url, sites),
    lineOf(decided) ?? '',
    String(robotsRequests(sites, planned.site)),
  ]);
  return table(['site', 'URL', 'decision', 'reason', 'deciding line', 'robots requests'], rows);
}

function why(decided: Decision, url: string, sites: DemoSites): string {
  const answer = decided.robots.status ?? decided.robots.error;
  const detail = decided.state === 'rules' ? '' : ` (${answer ?? 'no answer'})`;
  const site = siteNames.find((name) => sites[name].origin === decided.origin);
  const hop = decided.url === url ? '' : ` (redirect to ${site ?? ''}${new URL(decided.url).pathname})`;
  return `${decided.reason}${detail}${hop}`;
}

function lineOf(decided: Decision | undefined): string | undefined {
  const rule = decided?.rule;
  return rule && `${rule.line} ${rule.directive === 'allow' ? 'Allow' : 'Disallow'}: ${rule.pattern}`;
}

function robotsRequests(sites: DemoSites, site: keyof DemoSites): number {
  return sites[site].requests.filter(({ url }) => url === '/robots.txt').length;
}

function differences(crawled: readonly Crawled[], sites: DemoSites): string[] {
  const found: string[] = [];
  const expect = (what: string, expected: unknown, got: unknown): void => {
    if (expected !== got) found.push(`${what}: expected ${String(expected)}, got ${String(got)}`);
  };
  for (const { planned, decision, decided } of crawled) {
    const name = `${planned.site} ${planned.path}`;
    expect(`${name}, decision`, planned.deserves.decision, decision);
    expect(`${name}, reason`, planned.deserves.reason, decided?.reason);
    expect(`${name}, deciding line`, planned.deserves.line, lineOf(decided));
    if (planned.site === 'busy') expect(`${name}, waits as Retry-After asks`, true, waitsLongEnough(decided));
  }
  for (const site of siteNames) {
    expect(`${site}, robots.txt requests`, ROBOTS_REQUESTS_DESERVED, robotsRequests(sites, site));
  }
  const served = (path: string): boolean =>
    [sites.rules, sites.canonical, sites.none].some(({ requests }) =>
      requests.some(({ url }) => url === path),
    );
  for (const path of ['/private/diary', '/drafts/2', '/later'])
    expect(`${path}, requested`, false, served(path));
  return found;
}

/** Within the seconds this crawl takes. */
function waitsLongEnough(decided: Decision | undefined): boolean {
  const waitMs = (decided?.retryAt ?? 0) - Date.now();
  return waitMs > (RETRY_AFTER_SECONDS - 10) * 1_000 && waitMs <= RETRY_AFTER_SECONDS * 1_000;
}
