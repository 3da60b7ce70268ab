import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { skippedWithoutChromium } from '../../support/chromium.ts';
import '../../support/crawlee.ts';
import { sourceOf } from '../../support/entry-points.ts';
import { openedSite } from '../../support/opened.ts';
import { answer, type Site } from '../../support/site.ts';

/**
 * Runs the programs of `test/demo/starters/` as they stand, each against a site on loopback. Imports of the package lead to
 * the source, and `playwright` to the Chromium of the system.
 */
const root = fileURLToPath(new URL('../../../', import.meta.url));
const starters = join(root, 'test/demo/starters');
const folder = join(root, 'build/starters');
const links = ['/page', '/private', '/moved', '/gone', '/data', '/busy']
  .map((path) => `<a href="${path}">${path}</a>`)
  .join('');

/** A crawl delay of 0 is a statement, so that the pacing of these programs does not wait here. */
function startSite(): Promise<Site> {
  let isBusy = true;
  return openedSite((request, response) => {
    if (request.url === '/busy' && isBusy) {
      isBusy = false;
      answer(response, { status: 503, headers: { 'retry-after': '1' } });
    } else if (request.url === '/robots.txt') {
      answer(response, { body: 'User-agent: *\nDisallow: /private\nCrawl-delay: 0\n' });
    } else if (request.url === '/moved') {
      answer(response, { status: 302, headers: { location: '/private/new' } });
    } else if (request.url === '/data') {
      answer(response, { headers: { 'content-type': 'image/png' }, body: `<a href="/private">${links}</a>` });
    } else {
      const status = request.url === '/gone' ? 404 : 200;
      answer(response, {
        status,
        headers: { 'content-type': 'text/html' },
        body: `<title>A</title>${links}`,
      });
    }
  });
}

/** A module, which a program imports. */
const TOOL = 'tool-of-an-agent.js';
let runs = 0;

/** Writes a copy of a starter, a module of its own for each run. */
function copy(name: string): string {
  const program = readFileSync(join(starters, name), 'utf8')
    .replaceAll("from './", `from './${runs}-`)
    .replaceAll(
      /from '(canfetch(?:\/[\w-]+)?)'/g,
      (_, entry: string) => `from '${join(root, sourceOf(entry))}'`,
    )
    .replaceAll("from 'playwright'", `from '${join(root, 'test/support/chromium.ts')}'`);
  const file = join(folder, `${runs}-${name}`);
  writeFileSync(file, program);
  return file;
}

async function run(name: string, args: readonly string[]): Promise<string> {
  mkdirSync(folder, { recursive: true });
  runs++;
  const file = copy(name);
  copy(TOOL);
  const lines: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)));
  vi.spyOn(process, 'argv', 'get').mockReturnValue(['node', name, ...args]);
  vi.stubEnv('ALLOW_PRIVATE', 'true');
  vi.stubEnv('CRAWL_FILE', join(folder, 'crawl.txt'));
  // Programs that have ended do not hear of it.
  process.removeAllListeners('SIGTERM');
  await import(file);
  return lines.join('\n');
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const all = (site: Site): string[] =>
  ['/', '/page', '/private', '/moved', '/gone', '/busy'].map((path) => site.url(path));
const programs: Readonly<Record<string, (site: Site) => string[]>> = {
  'call-tool-of-an-agent.js': (site) => all(site).map((url) => JSON.stringify({ url })),
  'crawl-with-crawlee.js': (site) => [site.url('/')],
  'crawl-with-fetch.js': (site) => [site.url('/')],
  'crawl-with-got.js': all,
  'visit-with-playwright.js': all,
};

it(`${TOOL} is a module: its import prints nothing, and asks for nothing`, async () => {
  expect(await run(TOOL, [])).toBe('');
});

it('crawl-with-fetch.js comes back when robots.txt could not be fetched at first', async () => {
  let failures = 1;
  const site = await openedSite((request, response) => {
    if (request.url !== '/robots.txt')
      answer(response, { headers: { 'content-type': 'text/html' }, body: 'a page' });
    else if (failures-- > 0) answer(response, { status: 503, headers: { 'retry-after': '1' } });
    else answer(response, { body: 'User-agent: *\nCrawl-delay: 0\n' });
  });
  const output = await run('crawl-with-fetch.js', [site.url('/')]);
  expect(output).toContain(`fetched ${site.url('/')}`);
  expect(site.requests.map(({ url }) => url)).toEqual(['/robots.txt', '/robots.txt', '/']);
});

it('crawl-with-fetch.js goes on where it ended early', async () => {
  let isBusy = true;
  const site = await openedSite(({ url }, response) => {
    if (url === '/robots.txt') answer(response, { body: 'User-agent: *\nCrawl-delay: 0\n' });
    else if (url === '/2' && isBusy) answer(response, { status: 503, headers: { 'retry-after': '15' } });
    else
      answer(response, {
        headers: { 'content-type': 'text/html' },
        body: '<a href="/1">1</a><a href="http://[">!</a><a href="/2">2</a>',
      });
  });
  const first = run('crawl-with-fetch.js', [site.url('/')]);
  await expect.poll(() => site.requests.map(({ url }) => url)).toContain('/2');
  process.emit('SIGTERM');
  expect(await first).not.toContain(`fetched ${site.url('/2')}`);
  isBusy = false;
  const output = await run('crawl-with-fetch.js', [site.url('/')]);
  expect(output.match(/^fetched .*/gm)).toEqual([`fetched ${site.url('/2')}`]);
  expect(existsSync(join(folder, 'crawl.txt'))).toBe(false);
});

it('there is a test for each starter', () => {
  // `.ci/adopters` runs the fleet, with the package that it needs.
  const others = readdirSync(starters).filter((name) => name !== 'crawl-in-a-fleet.js');
  expect(others.sort()).toEqual([...Object.keys(programs), TOOL].sort());
});

for (const [name, argumentsFor] of Object.entries(programs)) {
  const skipped = name.includes('playwright') && skippedWithoutChromium !== undefined;
  (skipped ? it.skip : it)(
    `${name} fetches what it may, comes back to a busy page, says what it refused and why, and ends with its report`,
    async () => {
      const site = await startSite();
      const output = await run(name, argumentsFor(site));
      expect(output).toContain(`fetched ${site.url('/page')}`);
      expect(output).toContain(`status 404 ${site.url('/gone')}`);
      expect(output).toContain(`fetched ${site.url('/busy')}`);
      // The link, and the redirect.
      expect(output).toMatch(/refused .*\/private for ExampleBot \(line 2: \\?"disallow: \/private\\?"\)/);
      expect(output).toMatch(/refused .*\/moved redirects to .*\/private\/new/);
      expect(output).toMatch(/\n\n(?:THE FIRST DECISION WAS A REFUSAL.*\n)?\d+ requests sent, \d refused\b/);
      const pages = new Set(site.requests.map(({ url }) => url));
      expect([...pages].filter((url) => url?.startsWith('/private'))).toEqual([]);
      expect(site.requests.filter(({ url }) => url === '/robots.txt')).toHaveLength(1);
    },
  );

  (skipped ? it.skip : it)(
    `${name} ends within 5 s of SIGTERM, although its site has asked for a pause`,
    async () => {
      const site = await openedSite((request, response) => {
        if (request.url === '/robots.txt') answer(response, { body: 'User-agent: *\nCrawl-delay: 0\n' });
        else answer(response, { status: 503, headers: { 'retry-after': '15' } });
      });
      const page = site.url('/');
      const ended = run(name, [name.startsWith('call-') ? JSON.stringify({ url: page }) : page]);
      await expect.poll(() => site.requests.length).toBe(2);
      const from = performance.now();
      expect(process.emit('SIGTERM')).toBe(true);
      expect(await ended).toContain('1 request sent');
      expect(performance.now() - from).toBeLessThan(5_000);
      expect(site.requests).toHaveLength(2);
    },
  );

  (skipped ? it.skip : it)(`${name} ends within 5 s of SIGTERM, although its page hangs`, async () => {
    const site = await openedSite((request, response) => {
      if (request.url === '/robots.txt') answer(response, { body: 'User-agent: *\nCrawl-delay: 0\n' });
    });
    const page = site.url('/');
    const exited = new Promise((resolve) => {
      vi.spyOn(process, 'exit').mockImplementation((code) => resolve(code) as never);
    });
    const ended = run(name, [name.startsWith('call-') ? JSON.stringify({ url: page }) : page]);
    await expect.poll(() => site.requests.length, { timeout: 10_000 }).toBe(2);
    const from = performance.now();
    process.emit('SIGTERM');
    await Promise.race([ended, exited]);
    expect(performance.now() - from).toBeLessThan(5_000);
  });

  it(`${name} has no more lines than a newcomer reads`, () => {
    expect(readFileSync(join(starters, name), 'utf8').split('\n').length).toBeLessThanOrEqual(80);
  });
}
