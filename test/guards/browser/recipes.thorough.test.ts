import { chromium } from 'playwright-core';
import { expect, it } from 'vitest';
import { guardFetch } from '../../../src/index.ts';
import { guardContext } from '../../../src/guards/browser/playwright.ts';
import { guardContext as guardPuppeteer } from '../../../src/guards/browser/puppeteer.ts';
import {
  chromiumOptions,
  describeWithChromium,
  launchChromium,
  launchPuppeteer,
} from '../../support/chromium.ts';
import { opened } from '../../support/opened.ts';
import { answer } from '../../support/site.ts';
import { scriptedClient, site } from '../support.ts';

const closing = (close: () => Promise<unknown>): void =>
  void opened({ [Symbol.asyncDispose]: async () => void (await close()) });

describeWithChromium('a browser that an agent drives by its URL', () => {
  it.each([
    ['Playwright, which connects to it first', true],
    ['Puppeteer, which starts it', false],
  ])('is guarded by %s: pages of the agent, their popups and their redirects', async (_, isPlaywright) => {
    const server = await site(({ url = '' }, response) =>
      url.startsWith('/to?')
        ? answer(response, { status: 307, headers: { location: url.slice(4) } })
        : answer(response, { headers: { 'content-type': 'text/html' }, body: url }),
    );
    const browser = await launchPuppeteer(chromiumOptions('whole'));
    closing(() => browser.close());
    const refused: string[] = [];
    const onRefusal = ({ url }: { readonly url: string }): void => void refused.push(url);
    if (isPlaywright) {
      const guarding = await chromium.connectOverCDP(browser.wsEndpoint());
      await guardContext(guarding.contexts()[0]!, scriptedClient(), { onRefusal });
    } else await guardPuppeteer(browser.defaultBrowserContext(), scriptedClient(), { onRefusal });

    const agent = await chromium.connectOverCDP(browser.wsEndpoint());
    const page = await agent.contexts()[0]!.newPage();
    await page.goto(server.url('/page'));
    await page.evaluate(`void open('/private/popup')`);
    for (const path of ['/private', '/to?/private/on'])
      await expect(page.goto(server.url(path))).rejects.toThrow('ERR_BLOCKED_BY_CLIENT');
    await expect.poll(() => refused).toHaveLength(3);
    expect(server.requests.map(({ url }) => url).filter((url) => url.startsWith('/private'))).toEqual([]);
  });
});

describeWithChromium('`page.request` of Playwright', () => {
  it('is not held, as the guide says; what it names in its place is', async () => {
    const server = await site((_, response) => answer(response, { body: 'a page' }));
    const browser = await launchChromium();
    closing(() => browser.close());
    const context = await browser.newContext();
    const client = scriptedClient();
    await guardContext(context, client);
    const page = await context.newPage();
    expect((await page.request.get(server.url('/private/1'))).status()).toBe(200);
    await expect(guardFetch(fetch, client)(server.url('/private/2'))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
    });
    expect(server.requests.map(({ url }) => url)).toEqual(['/private/1']);
  });
});
