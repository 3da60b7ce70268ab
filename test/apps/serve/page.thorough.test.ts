import axe from 'axe-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWithChromium } from '../../support/chromium.ts';
import { answer, type Site, startSite } from '../../support/site.ts';
import { OpenPage } from './open-page.ts';

const ROBOTS = `User-agent: *
Disallow: /private
Allow: /private/press
Dissalow: /x

User-agent: GPTBot
Disallow: /
Content-Signal: ai-train=no
`;

describeWithChromium('the page in a browser', () => {
  let open: OpenPage;
  let site: Site;
  let down: Site;
  let long: Site;

  beforeAll(async () => {
    site = await startSite({ '/robots.txt': { body: ROBOTS } });
    down = await startSite((_, response) =>
      answer(response, { status: 503, headers: { 'retry-after': '120' } }),
    );
    const lines = Array.from({ length: 4_900 }, (_, index) => `Disallow: /line-${index}\n`);
    long = await startSite({ '/robots.txt': { body: `User-agent: *\n${lines.join('')}` } });
    open = await OpenPage.start();
  });

  afterAll(async () => {
    await open?.[Symbol.asyncDispose]();
    await Promise.all([site, down, long].map((each) => each?.close()));
  });

  beforeEach(() => open.open());
  afterEach(() => expect(open.complaints).toEqual([]));

  it.each(['light', 'dark'] as const)('has no fault that axe finds, in any part: %s', async (colorScheme) => {
    // The policy of the page lets axe in only when it is bypassed.
    await open.open({ bypassCSP: true, colorScheme });
    const { page } = open;
    const check = async (what: string): Promise<void> => {
      await page.evaluate(axe.source);
      const { violations } = (await page.evaluate('axe.run()')) as axe.AxeResults;
      expect([what, violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])]).toEqual([
        what,
        [],
      ]);
    };
    await open.visit();
    await check('the form');
    for (const url of [site.url('/private/press/1'), down.url('/')]) {
      await open.ask(url);
      await page.locator('select').selectOption('train-ai');
      await open.check();
      await open.unfold();
      await check(url);
    }
    await open.paste(ROBOTS, '/private/a', '*');
    await open.unfold();
    await check('a pasted file');
    await page.getByLabel('Agent', { exact: true }).fill('!');
    await open.check();
    await check('a fault');
  });

  it('shows the verdict beside the line that decides, and keeps the rest closed until it is asked for', async () => {
    await open.ask(site.url('/private/press/1'));
    const { page } = open;
    expect(await page.locator('#result h2').allInnerTexts()).toEqual([
      'Agents side by side',
      'robots.txt, 8 lines',
      'Notes on this file · 1 warning',
    ]);
    expect(await page.locator('[data-part=listing] .line').first().isVisible()).toBe(false);
    expect(await open.text('[data-part=excerpt] .decides')).toContain('Allow: /private/press');
    const [left, right] = [page.locator('[data-part=banner]'), page.locator('[data-part=excerpt]')];
    expect((await left.boundingBox())?.y).toBe((await right.boundingBox())?.y);
  });

  it('opens the file at a line, and the notes at a mark in it', async () => {
    await open.ask(site.url('/private/press/1'));
    const { page } = open;
    await page.getByRole('link', { name: 'Show the whole file' }).click();
    const listing = page.locator('[data-part=listing]');
    await listing.locator('.decides').waitFor();
    expect(await listing.locator('.decides').getAttribute('data-badge')).toBe('decides');
    expect(await listing.locator('.runner-up').innerText()).toContain('Disallow: /private');
    expect(await page.locator('.notes').isVisible()).toBe(false);
    await listing.locator('.mark.warning').click();
    await page.locator('#note-0').waitFor();
    expect(await open.text('#note-0')).toContain('Dissalow');
  });

  it('shows a line far down in a long file, and the search of the browser finds every line', async () => {
    await open.ask(long.url('/line-2500'));
    const { page } = open;
    await page.getByRole('link', { name: 'Show the whole file' }).click();
    const decides = page.locator('[data-part=listing] .decides');
    await decides.waitFor();
    const [box, line] = [await page.locator('.file').boundingBox(), await decides.boundingBox()];
    expect(line!.y).toBeGreaterThanOrEqual(box!.y);
    expect(line!.y).toBeLessThan(box!.y + box!.height);
    expect(await page.evaluate(`window.find('/line-4898')`)).toBe(true);
  });

  it('a selection of the file copies the file alone', async () => {
    await open.paste(`${ROBOTS}Disallow: /tab\there\n`, '/private', '*');
    await open.unfold();
    await open.page.evaluate(`getSelection().selectAllChildren(document.querySelector('.file'))`);
    const selected = String(await open.page.evaluate('getSelection().toString()'));
    expect(selected.replaceAll(/\n+/g, '\n').trim()).toBe(
      `${ROBOTS.replaceAll(/\n+/g, '\n')}Disallow: /tab\there`,
    );
  });

  it('goes to the field with a mistake, with the keyboard, too', async () => {
    await open.ask('https://a.example/', '!!');
    const { page } = open;
    // A browser moves to `autofocus` with its first frame, which may come after `load`.
    await page.locator('#agent:focus').waitFor();
    expect(await open.text('#fault')).toContain('product token');
    const [field, fault] = [
      await page.locator('#agent').boundingBox(),
      await page.locator('#fault').boundingBox(),
    ];
    expect(fault!.y - field!.y - field!.height).toBeLessThan(16);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('GPTBot');
    await page.locator('#url').fill(site.url('/private'));
    await page.keyboard.press('Enter');
    await page.locator('.banner.disallowed').waitFor();
    expect(await page.title()).toBe(`Disallowed: ${new URL(site.origin).host} · canfetch`);
  });

  it('can be used by keyboard alone', async () => {
    await open.visit();
    const { page } = open;
    const tab = async (): Promise<string> => {
      await page.keyboard.press('Tab');
      return page.evaluate(
        'document.activeElement.name || document.activeElement.textContent.trim() || document.activeElement.className',
      );
    };
    const order: string[] = [];
    for (let presses = 0; presses < 8; presses++) order.push(await tab());
    expect(order).toEqual([
      'canfetch',
      'Ask a site',
      'Try a robots.txt',
      'url',
      'agent',
      'compare',
      'purpose',
      'Check',
    ]);
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await open.ask(site.url('/private'), 'ExampleBot');
    const seen: string[] = [];
    for (let presses = 0; presses < 60 && seen.at(-1) !== '/v1/explain'; presses++) seen.push(await tab());
    expect(seen).toEqual(expect.arrayContaining(['Show the whole file', 'GPTBot', '/v1/explain']));
    await page.getByRole('link', { name: 'GPTBot', exact: true }).press('Enter');
    await page.getByText('GPTBot may not fetch').waitFor();
  });

  it('asks nothing by itself when another site brought the visitor, and asks when the button is pressed', async () => {
    const asked = site.requests.length;
    const target = `${open.service.origin}/?url=${encodeURIComponent(site.url('/private'))}&agent=LinkBot`;
    const body = `<meta http-equiv="refresh" content="0; url=${target}">`;
    await using foreign = await startSite({ '/': { headers: { 'content-type': 'text/html' }, body } });
    await open.page.goto(foreign.url('/'));
    await open.page.getByText('This question is not asked yet.').waitFor();
    expect(site.requests.length).toBe(asked);
    await open.check();
    expect(await open.text('.banner.disallowed')).toContain('LinkBot');
    open.complaints.length = 0;
  });

  it('has targets of 24 px at least, and fits a phone of 320 px without scrolling sideways', async () => {
    await open.open({ viewport: { width: 320, height: 640 } });
    const { page } = open;
    for (const origin of [site, long, down]) {
      await open.ask(origin.url(`/private/${'long'.repeat(100)}`));
      await open.unfold();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    }
    await open.paste(ROBOTS, `/private/${'long'.repeat(100)}`, '*');
    await open.unfold();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    const targets = page.locator(
      'button, summary, select, textarea, .button, .modes a, input[type=text], .mark',
    );
    for (const target of await targets.locator('visible=true').all()) {
      const { width, height } = (await target.boundingBox())!;
      expect([await target.innerText(), Math.min(width, height, 24)]).toEqual([expect.anything(), 24]);
    }
  });
});
