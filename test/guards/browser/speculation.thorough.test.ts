import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWithChromium } from '../../support/chromium.ts';
import { answer } from '../../support/site.ts';
import { site } from '../support.ts';
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
      browser = await launch('whole');
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

    it('leaves failures and redirects as they are', async () => {
      const server = await site(({ url }, response) => {
        const to = url === '/to';
        const headers = {
          'content-type': 'text/html',
          'set-cookie': 'a=1',
          ...(to ? { location: '/page' } : {}),
        };
        answer(response, { status: to ? 302 : 200, headers });
      });
      await using page = await browser.open({ subresources: true });
      await page.visit(server.url('/to'));
      expect(await page.run('location.pathname')).toBe('/page');
      expect((await page.cookies()).map(({ name }) => name)).toEqual(['a']);
      await server.close();
      await expect(page.visit(server.url('/gone'))).rejects.toThrow('ERR_CONNECTION_REFUSED');
    });

    it('turns off FedCM and payment requests when it is told to see what pages load, and only then', async () => {
      const script = `(async () => {
        const url = new URL('/private/pay', location).href;
        const total = { label: 'all', amount: { currency: 'EUR', value: '1' } };
        const pay = (window) => new window.PaymentRequest([{ supportedMethods: url }], { total }).canMakePayment();
        const frame = document.body.appendChild(document.createElement('iframe')).contentWindow;
        const identity = { providers: [{ configURL: url, clientId: 'x' }] };
        const tries = [() => pay(window), () => pay(frame), () => navigator.credentials.get({ identity })];
        const named = async (each) => each().then(() => 'done', ({ name }) => name);
        return (await Promise.all(tries.map(async (each) => named(async () => each())))).join();
      })()`;
      const server = await siteOf({
        headers: () => ({ 'permissions-policy': 'payment=*, identity-credentials-get=*' }),
      });
      const url = server.url('/page').replace('127.0.0.1', 'localhost');
      await using watched = await browser.open({ subresources: true });
      await watched.visit(url);
      expect(await watched.run(script)).toBe('SecurityError,SecurityError,NotAllowedError');
      expect(privateRequests(server)).toBe(0);
      await using other = await browser.open();
      await other.visit(url);
      expect(await other.run('document.featurePolicy.allowsFeature("payment")')).toBe(true);
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
