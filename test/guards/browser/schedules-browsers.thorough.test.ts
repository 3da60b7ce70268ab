import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type PacingOptions, RobotsClient } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { type JudgedSite, type LoggedRequest, startJudgedSite } from '../../support/judged-site.ts';
import { Chance, playSchedules, SEED } from '../../support/random.ts';
import { answer } from '../../support/site.ts';
import { runs } from '../../support/thorough.ts';
import { type Guarding, inBothBrowsers, type OpenContext, type Page } from './contexts.ts';

/** Behaviours of documents that load. A part of the path: `/document/<page>.<step>/<behaviour>/<ms>`. */
const LOADING = ['page', 'page', 'slow-header', 'slow-body', 'framing', 'redirect', 'not-found'] as const;
const BEHAVIOURS = [
  ...LOADING,
  ...['failing', 'busy', 'limited', 'no-content', 'half', 'never', 'redirect-to-private', 'private'],
] as const;
const STATUSES: Readonly<Record<string, number>> = {
  ...{ 'not-found': 404, failing: 500, busy: 503, limited: 429, 'no-content': 204 },
};

const STEPS = ['goto', 'goto', 'goto', 'goto', 'reload', 'assign', 'popup'] as const;

interface Step {
  readonly kind: (typeof STEPS)[number];
  readonly path: string;
  readonly timeoutMs: number;
}

/** What a page does, one step after the other. It may be closed within the last one. */
interface PagePlan {
  readonly context: number;
  readonly startsAfterMs: number;
  readonly steps: readonly Step[];
  readonly closesAfterMs: number | undefined;
}

interface Schedule {
  readonly crawlDelayMs: number | undefined;
  readonly pacing: Required<Pick<PacingOptions, 'concurrency' | 'defaultDelayMs' | 'backOff'>>;
  readonly pages: readonly PagePlan[];
}

/** A document without a response frees its permit after 30 s; here after this time. */
const NO_RESPONSE_MS = 600;
/** Longer than anything has to wait here, on a busy machine. */
const LONG_MS = 20_000;
const BACK_OFF = { firstMs: 150, maxMs: 300 };
const RETRY_AFTER_S = 1;

function scheduleOf(number: number): Schedule {
  const chance = new Chance(number);
  const delayMs = chance.pick([0, 40, 80, 120]);
  const isStated = chance.happens(0.5);
  return {
    crawlDelayMs: isStated ? delayMs : undefined,
    pacing: {
      concurrency: 1 + chance.below(2),
      defaultDelayMs: isStated ? 0 : delayMs,
      backOff: BACK_OFF,
    },
    pages: Array.from({ length: 2 + chance.below(2) }, (_, page) => ({
      context: chance.below(2),
      startsAfterMs: chance.below(60),
      steps: Array.from({ length: 1 + chance.below(3) }, (_each, step) => {
        const behaviour = chance.pick(BEHAVIOURS);
        const id = `${page}.${step}`;
        return {
          kind: chance.pick(STEPS),
          path:
            behaviour === 'private' ? `/private/${id}` : `/document/${id}/${behaviour}/${chance.below(80)}`,
          timeoutMs: behaviour === 'never' || chance.happens(0.2) ? 20 + chance.below(200) : LONG_MS,
        };
      }),
      closesAfterMs: chance.happens(0.3) ? chance.below(150) : undefined,
    })),
  };
}

async function serve({ url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, kind, id, behaviour = 'page', ms = '0'] = url.split('/');
  const page = (body = 'a page'): void => {
    const status = STATUSES[behaviour] ?? 200;
    const headers: Record<string, string> = { 'content-type': 'text/html' };
    if (behaviour === 'limited') headers['retry-after'] = String(RETRY_AFTER_S);
    answer(response, { status, headers, body: status === 204 ? '' : body });
  };
  if (kind !== 'document') return page();
  if (behaviour === 'never') return;
  // Chromium repeats a request by itself when a connection that it has kept breaks before the header.
  if (behaviour === 'half') {
    response.writeHead(200, { 'content-length': '9000' }).write('half'.padEnd(2_000));
    return void setTimeout(() => response.destroy(), Number(ms));
  }
  if (behaviour.startsWith('redirect')) {
    const location = behaviour === 'redirect' ? `/document/${id}/target` : `/private/${id}`;
    return answer(response, { status: 302, headers: { location } });
  }
  if (behaviour === 'framing')
    return page(`<iframe src="/frame"></iframe><iframe src="/private/frame"></iframe>`);
  if (behaviour === 'slow-header') await sleep(Number(ms));
  if (behaviour === 'slow-body') {
    response.writeHead(200, { 'content-type': 'text/html' }).write('<p>'.padEnd(2_000));
    await sleep(Number(ms));
    response.end();
  } else page();
}

/** A page gave up what it was loading. */
interface GivenUp {
  readonly page: string;
  readonly at: number;
}

const pageOf = (path: string): string => path.split('/')[2]?.split('.')[0] ?? '';

/** Closes a page or a context. Puppeteer may never say that a page which was loading is closed, guarded or not. */
const closeOf = (opened: { close(): Promise<void> }): Promise<void> =>
  Promise.race([opened.close(), sleep(1_000)]);

/** Plays a schedule: one client, a guard for each of two contexts. */
class Play {
  readonly givenUp: GivenUp[] = [];
  readonly failures: string[] = [];
  readonly popups: string[] = [];
  private readonly site: JudgedSite;

  constructor(site: JudgedSite) {
    this.site = site;
  }

  async play(plan: PagePlan, number: number, page: Page, guard: Guarding): Promise<void> {
    const giveUp = (): void => void this.givenUp.push({ page: String(number), at: this.site.now() });
    let isLoading = false;
    await sleep(plan.startsAfterMs);
    for (const [index, planned] of plan.steps.entries()) {
      // Chromium runs scripts of a page that waits for a document only afterwards.
      const step: Step = isLoading ? { ...planned, kind: 'goto' } : planned;
      const isLast = index === plan.steps.length - 1;
      if (isLoading) giveUp();
      const closing = isLast && plan.closesAfterMs !== undefined ? sleep(plan.closesAfterMs) : undefined;
      const closed = closing?.then(() => {
        giveUp();
        return closeOf(page);
      });
      const error = await this.take(step, page).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (step.kind === 'goto' && closing === undefined && !isLoading)
        await this.judge(step, error, page, guard);
      isLoading = step.kind === 'assign' || (step.timeoutMs < LONG_MS && error !== undefined);
      await closed;
    }
  }

  private async take({ kind, path, timeoutMs: timeout }: Step, page: Page): Promise<unknown> {
    const url = this.site.origin + path;
    if (kind === 'goto') return page.goto(url, { timeout });
    if (kind === 'reload') return page.reload({ timeout });
    if (kind === 'assign') {
      await page.evaluate(`void setTimeout(() => location.assign('${url}'))`);
      return sleep(20);
    }
    const popup = url.replace('/document/', '/document/popup-');
    // The page of an error, which a refusal leads to, may open no windows.
    const opens = await page.evaluate(`window.open('${popup}') !== null`);
    if (opens === true && popup !== url) this.popups.push(new URL(popup).pathname);
    return opens;
  }

  private async judge({ path, timeoutMs }: Step, error: unknown, page: Page, guard: Guarding): Promise<void> {
    if (timeoutMs < LONG_MS) return;
    const refused = await guard.errorOf(page);
    const isPrivate = path.includes('private');
    const code: unknown = Reflect.get(Object(refused), 'code');
    if (code !== (isPrivate ? 'ERR_ROBOTS_DISALLOWED' : undefined)) this.failures.push(`${path}: ${refused}`);
    const loads = LOADING.some((behaviour) => path.includes(`/${behaviour}/`));
    // The page of an error that an earlier step led to may come only now.
    if (loads && !/interrupted by another navigation/.test(String(error)) && error !== undefined)
      this.failures.push(`${path}: ${error}`);
  }

  /** What the log of the site shows that should not be. */
  violations({ crawlDelayMs, pacing }: Schedule): string[] {
    const { log } = this.site;
    const documents = log.filter(({ member }) => member === 'document');
    const gapMs = crawlDelayMs ?? pacing.defaultDelayMs;
    const found = [...this.failures, ...this.site.tooClose(gapMs, { member: 'document' })];
    for (const { path } of log) if (path.startsWith('/private')) found.push(`${path} was requested`);
    for (const each of documents) {
      const inFlight = documents.filter((one) => one.at <= each.at && this.endOf(one) > each.at);
      if (inFlight.length > pacing.concurrency) found.push(`in flight: ${JSON.stringify(inFlight)}`);
      for (const early of this.inPause(each, pacing.concurrency))
        found.push(`${early.path}, ${early.at - each.at} ms after ${each.path}`);
    }
    return found;
  }

  /** When a document frees its permit at the latest. */
  private endOf({ path, at, over }: LoggedRequest): number {
    const givenUp = this.givenUp.find((each) => each.page === pageOf(path) && each.at > at);
    // The browser sends a request some time after the guard let it go.
    const ended = path.includes('/never/') ? at + NO_RESPONSE_MS / 2 : Infinity;
    return Math.min(over, givenUp?.at ?? Infinity, ended);
  }

  /** Requests within the pause that a response asked for. */
  private inPause({ path, at, over }: LoggedRequest, concurrency: number): readonly LoggedRequest[] {
    const pauseMs = path.includes('/limited/')
      ? RETRY_AFTER_S * 1_000
      : path.includes('/busy/')
        ? 0.9 * BACK_OFF.firstMs
        : 0;
    // Another one may be on its way when the response comes.
    const from = over + (concurrency - 1) * 300;
    const wasGivenUp = this.givenUp.some(
      (each) => each.page === pageOf(path) && each.at > at && each.at < at + pauseMs,
    );
    return wasGivenUp ? [] : this.site.between(from, over + pauseMs, 'document');
  }
}

/** Schedules a library: some 3 s each. */
const SCHEDULES = runs(4);

inBothBrowsers('random schedules', (open: OpenContext) => {
  beforeAll(() => {
    // The only wait for 30 s here is that of the guard for a response.
    const real = globalThis.setTimeout;
    const shortened = (run: () => void, ms?: number, ...rest: []): NodeJS.Timeout =>
      real(run, ms === 30_000 ? NO_RESPONSE_MS : ms, ...rest);
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(shortened as typeof setTimeout);
  });
  afterAll(() => void vi.restoreAllMocks());

  async function playOne(schedule: Schedule): Promise<void> {
    const { crawlDelayMs, pacing, pages } = schedule;
    const delay = crawlDelayMs === undefined ? '' : `Crawl-delay: ${crawlDelayMs / 1_000}\n`;
    const body = `User-agent: *\nDisallow: /private\n${delay}`;
    await using site = await startJudgedSite({ body }, (...each) => void serve(...each));
    await using robots = new RobotsClient({ agent: 'ExampleBot' });
    const contexts = [await open(robots, [{ pacing }]), await open(robots, [{ pacing }])];
    const play = new Play(site);
    const opened: Page[] = [];
    for (const { context } of pages) opened.push(await contexts[context]!.newPage());
    await Promise.all(
      pages.map((plan, number) =>
        play.play(plan, number, opened[number]!, contexts[plan.context]!.guards[0]!),
      ),
    );
    // Popups go on by themselves, and pages whose navigation has timed out stay open.
    await eventually(async () => {
      expect(site.log.map(({ path }) => path)).toEqual(expect.arrayContaining(play.popups));
      const { pacing: paced } = await robots.policy(site.origin);
      expect([paced?.inFlight ?? [], paced?.waiting ?? 0]).toEqual([[], 0]);
    });
    for (const context of contexts) await closeOf(context);
    expect(play.violations(schedule)).toEqual([]);
  }

  it(
    `keep the conduct that the site sees, and lose no permit (seed ${SEED})`,
    () => playSchedules(SCHEDULES, scheduleOf, playOne),
    300_000,
  );
});
