import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { refusalIn, RobotsClient } from '../../../src/index.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import { answer, type Handler, REFUSING_HOST, startSite } from '../../support/site.ts';
import type { Run } from './run.ts';

/**
 * Batch jobs as people write them, over sites that are well, slow, busy, closed and dead. One oracle judges them all: the run
 * ends, every URL is told once, a page is lost nowhere but at the sites that never give one, and nothing is asked for more
 * often than it should be.
 */
const names = readdirSync(import.meta.dirname)
  .filter((file) => !/^(?:run|runs\.test)\.ts$/.test(file))
  .map((file) => file.slice(0, -'.ts'.length))
  .sort();
const MOST_MS = 15 * 60_000;

/** At which nothing listens. */
const DEAD = `http://${REFUSING_HOST}`;

function siteWith(robots: { status?: number; body?: string }, page: Handler) {
  return startSite((request, response) =>
    request.url === '/robots.txt' ? answer(response, robots) : page(request, response),
  );
}

const html: Handler = (_, response) =>
  answer(response, { headers: { 'content-type': 'text/html' }, body: '<p>a page</p>' });

describe('batch jobs as people write them', () => {
  it.each(names)('%s', async (name) => {
    const rules = 'User-agent: *\nDisallow: /private\n';
    let refused = 0;
    await using well = await siteWith({ body: rules }, html);
    await using slow = await siteWith({ body: `${rules}Crawl-delay: 20\n` }, html);
    await using busy = await siteWith({ body: rules }, (request, response) =>
      refused++ < 2 ? answer(response, { status: 429 }) : html(request, response),
    );
    await using closed = await siteWith({ status: 503 }, html);
    const clock = virtualClock({ autoAdvance: true });
    await using robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)', clock });
    const { default: program }: { default: (run: Run) => Promise<void> } = await import(
      /* @vite-ignore */ new URL(`./${name}.ts`, import.meta.url).href
    );
    const origins = [well, slow, busy, closed].map(({ origin }) => origin).concat(DEAD);
    const urls = ['/1', '/private', '/2'].flatMap((path) => origins.map((origin) => origin + path));
    const told: (readonly [url: string, outcome: string])[] = [];
    const startedAt = clock.now();
    await program({
      robots,
      clock,
      urls,
      ended(url, error) {
        const refusal = refusalIn(error);
        const forGood = refusal?.code === 'ERR_ROBOTS_UNREACHABLE' && refusal.retryAt === undefined;
        told.push([
          url,
          error === undefined ? 'page' : (refusal?.code ?? String(error)) + (forGood ? ', for good' : ''),
        ]);
      },
    });
    const expected = (url: string): string => {
      if (url.startsWith(DEAD)) return 'ERR_ROBOTS_UNREACHABLE, for good';
      if (url.startsWith(closed.origin)) return 'ERR_ROBOTS_UNREACHABLE';
      return url.endsWith('/private') ? 'ERR_ROBOTS_DISALLOWED' : 'page';
    };
    expect(told.sort()).toEqual(urls.map((url) => [url, expected(url)]).sort());
    expect(clock.now() - startedAt).toBeLessThan(MOST_MS);
    expect(well.requests.map(({ url }) => url).sort()).toEqual(['/1', '/2', '/robots.txt']);
    // Two refusals, then each page once.
    expect(busy.requests.filter(({ url }) => url !== '/robots.txt')).toHaveLength(2 + 2);
    expect(closed.requests.length).toBeLessThan(10);
  });
});
