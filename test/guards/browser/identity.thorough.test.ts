import { afterEach, expect, it, vi } from 'vitest';
import { guardContext } from '../../../src/guards/browser/playwright.ts';
import { describeWithChromium, launchChromium } from '../../support/chromium.ts';
import { opened } from '../../support/opened.ts';
import { answer, type Site } from '../../support/site.ts';
import { scriptedClient, site } from '../support.ts';
import { guardedPage, inBothBrowsers, type OpenContext } from './contexts.ts';

const agent = 'ExampleBot/1.0 (+https://example.com/bot)';

const pages = (): Promise<Site> =>
  site(({ url }, response) => {
    const body = url === '/page' ? `<img src="/image"><iframe src="/frame"></iframe>` : '';
    answer(response, { headers: { 'content-type': 'text/html' }, body });
  });

const namesOf = ({ requests }: Site): ReadonlySet<string | undefined> =>
  new Set(requests.map(({ headers }) => headers['user-agent']));

afterEach(() => void vi.restoreAllMocks());

function identity(open: OpenContext): void {
  it("is the client's with `identify: true`: for pages, what they load, and popups", async () => {
    const warned = vi.spyOn(process, 'emitWarning');
    const server = await pages();
    const { page } = await guardedPage(open, { agent, identify: true });
    await page.goto(server.url('/page'));
    await page.evaluate("void open('/popup')");
    await expect.poll(() => server.requests.map(({ url }) => url)).toContain('/popup');
    expect(namesOf(server)).toEqual(new Set([agent]));
    expect(server.requests.map(({ url }) => url)).toEqual(expect.arrayContaining(['/image', '/frame']));
    expect(warned).not.toHaveBeenCalled();
  });

  it("is the browser's with `identify: false`, in silence", async () => {
    const warned = vi.spyOn(process, 'emitWarning');
    const server = await pages();
    const { page } = await guardedPage(open, { agent, identify: false });
    await page.goto(server.url('/page'));
    expect([...namesOf(server)]).toEqual([expect.stringContaining('Chrome')]);
    expect(warned).not.toHaveBeenCalled();
  });
}

inBothBrowsers('the User-Agent', identity);

describeWithChromium('a User-Agent that is not the one robots.txt is checked for', () => {
  it('is warned of once a process, with the line that mends it', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const server = await pages();
    const context = await opened(await launchChromium()).newContext();
    await guardContext(context, scriptedClient(), { agent });
    const page = await context.newPage();
    for (const path of ['/page', '/next']) await page.goto(server.url(path));
    expect(warned).toHaveBeenCalledOnce();
    expect(String(warned.mock.calls[0]?.[0])).toMatch(
      /checked for ExampleBot, but pages are requested as ".*Chrome.*": `identify: true`, an option of the guard,/,
    );
  });
});
