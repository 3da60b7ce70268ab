import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWithChromium } from '../../support/chromium.ts';
import {
  libraries,
  type OpenBrowser,
  pagesHeldBySetting,
  privateRequests,
  privateRequestsOf,
  siteOf,
} from './speculation.ts';

describeWithChromium('a guarded browser loads no disallowed page ahead', () => {
  describe.each(Object.entries(libraries))('with %s', (_, launch) => {
    let browser: OpenBrowser;
    beforeAll(async () => {
      browser = await launch();
    });
    afterAll(() => browser[Symbol.asyncDispose]());

    it.each(Object.entries(pagesHeldBySetting))('%s', async (_name, page) => {
      expect(await privateRequestsOf(browser, page)).toBe(0);
    });

    it('leaves the rest of a page whose header field it takes away as it is', async () => {
      const server = await siteOf({
        headers: () => ({ 'speculation-rules': '"/rules.json"', 'x-kept': 'yes' }),
        body: '<p id="kept">text</p>',
      });
      await using page = await browser.open();
      await page.visit(server.url('/page'));
      expect(await page.run('document.querySelector("#kept").textContent')).toBe('text');
      expect(new Set((await page.cookies()).map(({ name }) => name))).toEqual(new Set(['a', 'b']));
      expect(server.requests.map(({ url }) => url)).not.toContain('/rules.json');
    });

    it('sees what a page preloads and reports when it is told to see what pages load', async () => {
      const body = `<link rel="preload" as="fetch" crossorigin href="/private/preload">
        <a href="#" ping="/private/ping"></a><script>navigator.sendBeacon('/private/beacon');
        document.querySelector('a').click()</script>`;
      const server = await siteOf({ body });
      await using page = await browser.open({ subresources: true });
      await page.visit(server.url('/page'));
      await page.run("fetch('/after').then((response) => response.text())");
      expect(privateRequests(server)).toBe(0);
    });
  });
});
