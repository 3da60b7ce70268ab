import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { describeWithChromium } from '../../support/chromium.ts';
import { answer, type Site } from '../../support/site.ts';
import { site } from '../support.ts';
import { libraries, type OpenBrowser } from './speculation.ts';

const agent = 'ExampleBot/1.0 (+https://example.com/bot)';

const pages = (): Promise<Site> =>
  site(({ url }, response) => {
    const body = url === '/page' ? `<img src="/image"><iframe src="/frame"></iframe>` : '';
    answer(response, { headers: { 'content-type': 'text/html' }, body });
  });

const namesOf = ({ requests }: Site): ReadonlySet<string | undefined> =>
  new Set(requests.map(({ headers }) => headers['user-agent']));

afterEach(() => void vi.restoreAllMocks());

describeWithChromium('the User-Agent of a guarded browser', () => {
  describe.each(Object.entries(libraries))('with %s', (_, launch) => {
    let browser: OpenBrowser;
    beforeAll(async () => {
      browser = await launch('shell');
    });
    afterAll(() => browser[Symbol.asyncDispose]());

    it("is the client's with `identify: true`: for pages, what they load, and popups", async () => {
      const warned = vi.spyOn(process, 'emitWarning');
      const server = await pages();
      await using page = await browser.open({ agent, identify: true });
      await page.visit(server.url('/page'));
      await page.run("void open('/popup')");
      await expect.poll(() => server.requests.map(({ url }) => url)).toContain('/popup');
      expect(namesOf(server)).toEqual(new Set([agent]));
      expect(server.requests.map(({ url }) => url)).toEqual(expect.arrayContaining(['/image', '/frame']));
      expect(warned).not.toHaveBeenCalled();
    });

    it("is the browser's otherwise, which `onIdentity` is told once for each origin", async () => {
      const warned = vi.spyOn(process, 'emitWarning');
      const server = await pages();
      const onIdentity = vi.fn();
      await using page = await browser.open({ agent, identify: false, onIdentity });
      await page.visit(server.url('/page'));
      await page.visit(server.url('/next'));
      expect([...namesOf(server)]).toEqual([expect.stringContaining('Chrome')]);
      expect(onIdentity.mock.calls).toEqual([
        [{ url: server.url('/page'), userAgent: expect.stringContaining('Chrome'), agents: ['ExampleBot'] }],
      ]);
      expect(warned).not.toHaveBeenCalled();
    });
  });

  it('is warned of once a process, with the line that mends it', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const server = await pages();
    for (const launch of Object.values(libraries)) {
      await using browser = await launch('shell');
      await using page = await browser.open({ agent });
      await page.visit(server.url('/page'));
    }
    expect(warned).toHaveBeenCalledOnce();
    expect(String(warned.mock.calls[0]?.[0])).toMatch(
      /checked for ExampleBot, but pages are requested as ".*Chrome.*": `identify: true`, an option of the guard,/,
    );
  });
});
