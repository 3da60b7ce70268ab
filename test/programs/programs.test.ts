import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RobotsClient } from '../../src/index.ts';
import { refusalIn } from '../../src/core/client/refusal-errors.ts';
import { startJudgedSite } from '../support/judged-site.ts';
import { answer } from '../support/site.ts';
import type { Crawl } from './crawl.ts';

/**
 * Each file beside this one is a program as people write it. One oracle judges them all: every URL ends as fetched or is
 * refused with a reason, nothing disallowed is requested, no gap is too short, and the whole waits no longer than its gaps
 * and two seconds.
 */
const names = readdirSync(import.meta.dirname)
  .filter((file) => /^(?!crawl\.|programs\.).*\.ts$/.test(file))
  .map((file) => file.slice(0, -'.ts'.length))
  .sort();
/** Half of it is how long a busy machine may hold the process up. */
const GAP_MS = 300;
const MOST_MS = 2_000;
const PAGES = [
  '/pages/1',
  '/pages/2',
  '/big',
  '/private',
  '/pages/3',
  '/moved',
  '/missing',
  '/pages/4',
  '/pages/5',
];

describe('programs as people write them', () => {
  // They wait for most of the time.
  it.concurrent.each(names)('%s', async (name) => {
    await using site = await startJudgedSite(
      { body: 'User-agent: *\nDisallow: /private\n' },
      ({ url = '' }, response) => {
        if (url === '/moved')
          return answer(response, { status: 302, headers: { location: '/private/page' } });
        const body = url === '/big' ? 'big '.repeat(75_000) : `page ${url}`;
        const headers = { 'content-type': 'text/html', 'content-length': String(body.length) };
        answer(response, { status: url === '/missing' ? 404 : 200, headers, body });
      },
    );
    await using robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
    const outcomes: Record<string, unknown> = {};
    const { default: program }: { default: (crawl: Crawl) => Promise<void> } = await import(
      /* @vite-ignore */ new URL(`./${name}.ts`, import.meta.url).href
    );
    const started = performance.eventLoopUtilization();
    await program({
      robots,
      pacing: { defaultDelayMs: GAP_MS },
      urls: PAGES.map((path) => site.origin + path),
      ended(url, error) {
        const status: unknown = Reflect.get(Object(Reflect.get(Object(error), 'response')), 'status');
        const isMissing = status === 404 || /status 404/.test(String(error));
        const outcome = error === undefined || isMissing ? 'fetched' : (refusalIn(error)?.code ?? error);
        outcomes[new URL(url).pathname] = outcome;
      },
    });
    // Not the time in which a busy machine, or the program itself, works.
    const { idle: waitedMs } = performance.eventLoopUtilization(started);
    const isRefused = (path: string): boolean => path === '/private' || path === '/moved';
    expect(outcomes).toEqual(
      Object.fromEntries(PAGES.map((path) => [path, isRefused(path) ? 'ERR_ROBOTS_DISALLOWED' : 'fetched'])),
    );
    expect(site.log.filter(({ path }) => path.startsWith('/private'))).toEqual([]);
    expect(site.tooClose(GAP_MS)).toEqual([]);
    expect(waitedMs).toBeLessThan(site.log.length * GAP_MS + MOST_MS);
  });
});
