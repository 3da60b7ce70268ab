import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { describeWithChromium } from '../../support/chromium.ts';
import { libraries, type OpenBrowser, pagesHeldByScript, privateRequestsOf } from './speculation.ts';

// As in a browser that has no page of settings, such as the headless shell.
vi.mock('../../../src/guards/browser/preloading.ts', async (original) => ({
  ...(await original<object>()),
  turnPreloadingOff: () => Promise.resolve(),
}));

describeWithChromium('without the setting of the browser no disallowed page is loaded ahead', () => {
  describe.each(Object.entries(libraries))('with %s', (_, launch) => {
    let browser: OpenBrowser;
    beforeAll(async () => {
      browser = await launch('shell');
    });
    afterAll(() => browser[Symbol.asyncDispose]());

    it.each(Object.entries(pagesHeldByScript))('%s', async (_name, page) => {
      expect(await privateRequestsOf(browser, page)).toBe(0);
    });
  });
});
