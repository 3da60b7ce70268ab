import { expect, it, vi } from 'vitest';
import { guardContext, type GuardContextOptions } from '../../../src/guards/browser/playwright.ts';
import { retryAtOf, RobotsClient } from '../../../src/index.ts';
import { describeWithChromium, launchChromium } from '../../support/chromium.ts';
import { eventually } from '../../support/eventually.ts';
import { opened } from '../../support/opened.ts';
import { answer, type Site, startSite } from '../../support/site.ts';
import { inBothBrowsers, type OpenContext } from './contexts.ts';

const waiting: GuardContextOptions = { pacing: { defaultDelayMs: 0 } };
const notWaiting: GuardContextOptions = { pacing: { defaultDelayMs: 0, maxDelayMs: 0 } };
const DEFERRED = { code: 'ERR_ROBOTS_DEFERRED', delayFrom: 'concurrency' };

/** A site that answers everything but `/never`, and ends `/slow` when it is told to. */
async function site(): Promise<Site & { end(): void }> {
  let end = (): void => undefined;
  let cameNever = (): void => undefined;
  const neverCame = new Promise<void>((resolve) => (cameNever = resolve));
  const server = opened(
    await startSite((request, response) => {
      if (request.url?.startsWith('/never') === true) return cameNever();
      if (request.url === '/slow') {
        response.writeHead(200, { 'content-type': 'text/html' }).write('<p>'.padEnd(2_000));
        end = () => void response.end();
        return;
      }
      const isRobots = request.url === '/robots.txt';
      const page = { headers: { 'content-type': 'text/html' }, body: '<p>a page</p>' };
      if (request.url === '/when-never-came') void neverCame.then(() => answer(response, page));
      else answer(response, isRobots ? { body: '' } : page);
    }),
  );
  return Object.assign(server, { end: () => end() });
}

function permitsOf(open: OpenContext): void {
  const started = async (options: readonly GuardContextOptions[] = [waiting]) => {
    const server = await site();
    const robots = new RobotsClient({ agent: 'ExampleBot' });
    opened(robots);
    const { newPage, guards } = await open(robots, options);
    const arrived = (path: string, times = 1): Promise<void> =>
      eventually(() => {
        const found = server.requests.filter(({ url }) => url.split('?')[0] === path);
        expect(found).toHaveLength(times);
      });
    return { server, robots, newPage, guards, arrived };
  };

  it.each([429, 503])(
    'a page that was answered with %i is "not now", with a body and without',
    async (status) => {
      const server = opened(
        await startSite(({ url }, response) => {
          if (url === '/robots.txt') return answer(response, { body: '' });
          const headers = { 'content-type': 'text/html', 'retry-after': '3600' };
          if (url === '/page') return answer(response, { headers, body: 'a page' });
          answer(response, { status, headers, body: url === '/empty' ? '' : 'busy' });
        }),
      );
      for (const path of ['/empty', '/busy']) {
        const robots = new RobotsClient({ agent: 'ExampleBot' });
        opened(robots);
        const { newPage, guards } = await open(robots, [waiting]);
        const page = await newPage();
        await page.goto(server.url('/page'));
        expect(await guards[0]!.errorOf(page)).toBeUndefined();
        // Chromium rejects where there is no body.
        const loaded = page.goto(server.url(path));
        await (path === '/busy' ? loaded : loaded.catch(() => undefined));
        const error = await guards[0]!.errorOf(page);
        expect(error).toMatchObject({
          code: 'ERR_ROBOTS_DEFERRED',
          delayFrom: 'retry-after',
          message: expect.stringMatching(new RegExp(`as it answered ${status}, .* a pause of 3,600 s`)),
        });
        expect(Math.round((retryAtOf(error)! - Date.now()) / 60_000)).toBe(60);
      }
    },
  );

  it('the permit of a navigation that never ends is freed when a script stops it', async () => {
    const { server, newPage, arrived } = await started();
    const [stopped, other] = [await newPage(), await newPage()];
    await stopped.goto(server.url('/page'));
    await stopped.evaluate(`
      fetch('/when-never-came').then(() => window.stop());
      setTimeout(() => location.assign('/never'));
    `);
    await arrived('/never');
    await other.goto(server.url('/next'));
  });

  it('when another one begins in its frame', async () => {
    const { server, newPage, arrived } = await started();
    const page = await newPage();
    const left = page.goto(server.url('/never')).catch(() => undefined);
    await arrived('/never');
    await page.goto(server.url('/next'));
    await left;
  });

  it('when its document has arrived, and not before', async () => {
    const { server, newPage, guards, arrived } = await started([notWaiting]);
    const [first, second] = [await newPage(), await newPage()];
    const loaded = first.goto(server.url('/slow'));
    await arrived('/slow');
    await expect(second.goto(server.url('/page'))).rejects.toThrow();
    expect(await guards[0]?.errorOf(second)).toMatchObject(DEFERRED);
    server.end();
    await loaded;
    await eventually(async () => void (await second.goto(server.url('/page'))));
  });

  it('frames take none, and wait for none', async () => {
    const { server, newPage, arrived } = await started([notWaiting]);
    const [framing, other] = [await newPage(), await newPage()];
    await framing.goto(server.url('/page'));
    await framing.evaluate(`
      for (let id = 0; id < 3; id++) {
        const frame = document.createElement('iframe');
        // Chromium asks for one URL at a time: the second would wait 20 s for the cache.
        frame.src = '/never?frame=' + id;
        document.body.append(frame);
      }
    `);
    await arrived('/never', 3);
    await other.goto(server.url('/next'));
  });

  it('a page that is closed while it waits takes no permit', async () => {
    const { server, robots, newPage, arrived } = await started();
    const [first, waiting, last] = [await newPage(), await newPage(), await newPage()];
    const held = first.goto(server.url('/never'));
    await arrived('/never');
    const left = Promise.allSettled([held, waiting.goto(server.url('/page'))]);
    await eventually(() => expect(robots.stats().hits).toBeGreaterThanOrEqual(1));
    const next = last.goto(server.url('/next'));
    await waiting.close();
    await first.close();
    await next;
    await left;
    expect(server.requests.map(({ url }) => url)).not.toContain('/page');
  });

  it('two guards of one client take one permit for a navigation, and give it back', async () => {
    const { server, newPage } = await started([waiting, waiting]);
    const page = await newPage();
    await page.goto(server.url('/page'));
    await page.goto(server.url('/next'));
  });

  it('of two guards of one client the one with pacing waits, also when it is the second', async () => {
    const { server, newPage, guards, arrived } = await started([{}, notWaiting]);
    const [first, second] = [await newPage(), await newPage()];
    const held = first.goto(server.url('/never')).catch(() => undefined);
    await arrived('/never');
    await expect(second.goto(server.url('/page'))).rejects.toThrow();
    expect(await guards[1]?.errorOf(second)).toMatchObject(DEFERRED);
    await first.close();
    await held;
  });

  it('a navigation that is blocked takes no permit from another one to the same URL', async () => {
    const { server, newPage, guards, arrived } = await started([notWaiting]);
    const [first, second] = [await newPage(), await newPage()];
    const held = first.goto(server.url('/never')).catch(() => undefined);
    await arrived('/never');
    for (const path of ['/never', '/page']) {
      await expect(second.goto(server.url(path))).rejects.toThrow();
      expect(await guards[0]?.errorOf(second)).toMatchObject(DEFERRED);
    }
    expect(server.requests.map(({ url }) => url)).not.toContain('/page');
    await first.close();
    await held;
  });
}

inBothBrowsers('permits of navigations', permitsOf);

describeWithChromium('permits of navigations in Playwright', () => {
  it('are no longer watched when the guard is disposed of', async () => {
    const browser = opened(await launchChromium());
    const context = await browser.newContext();
    const [on, off] = [vi.spyOn(context, 'on'), vi.spyOn(context, 'off')];
    const robots = opened(new RobotsClient({ agent: 'ExampleBot' }));
    await (await guardContext(context, robots, waiting)).dispose();
    const listening = on.mock.calls.filter(([event]) => String(event) !== 'close');
    expect(listening.map(([event]) => event)).toEqual(['requestfinished', 'requestfailed']);
    expect(off.mock.calls).toEqual(listening);
  });
});
