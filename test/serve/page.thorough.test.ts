import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWithChromium, launchChromium } from '../support/chromium.ts';
import { answer, type Site, startSite } from '../support/site.ts';
import { startService, type TestService } from './service.ts';

const ROBOTS = `User-agent: *
Disallow: /private
Allow: /private/press
Dissalow: /x

User-agent: GPTBot
Disallow: /
Content-Signal: ai-train=no
`;

const HOSTILE = [
  'User-agent: <img src=x onerror="window.hacked=1">',
  '<script>window.hacked=1</script>',
  'User-agent: *',
  'Disallow: /"><script>window.hacked=1</script>',
  'Disallow: /<img src=x onerror=window.hacked=1>',
  'Disallow: /private',
  'Disallow: /\u001b[31mred\u001b[0m',
  'Disallow: /\u202egnidaelsim',
  `Disallow: /${'x'.repeat(5_000)}`,
  'Content-Signal: ai-train=no, <b>search</b>=yes',
  'Sitemap: javascript:window.hacked=1',
  '#',
].join('\n');

describeWithChromium('the page', () => {
  let browser: Browser;
  let service: TestService;
  let site: Site;
  let hostile: Site;
  let down: Site;
  let home: Site;
  let long: Site;
  let page: Page;
  /** What the browser objected to, errors of the script, and requests to anyone but us. */
  let complaints: string[];

  beforeAll(async () => {
    browser = await launchChromium();
    site = await startSite({ '/robots.txt': { body: ROBOTS } });
    hostile = await startSite({
      '/robots.txt': {
        body: HOSTILE + 'x'.repeat(100) + '\n' + `Disallow: /${'y'.repeat(20)}\n`.repeat(18_000),
      },
    });
    down = await startSite((_, response) =>
      answer(response, { status: 503, headers: { 'retry-after': '120' } }),
    );
    home = await startSite({ '/robots.txt': { body: '<!doctype html><title>Home</title>' } });
    long = await startSite({ '/robots.txt': { body: `${ROBOTS}${`#${'x'.repeat(999)}\n`.repeat(600)}` } });
    service = await startService();
  });

  afterAll(async () => {
    await browser?.close();
    await service?.terminate();
    await Promise.all([site, hostile, down, home, long].map((each) => each?.close()));
  });

  beforeEach(async () => {
    await open();
  });

  afterEach(async () => {
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  async function open(options: Parameters<Browser['newContext']>[0] = {}): Promise<void> {
    const context = await browser.newContext(options);
    page = await context.newPage();
    complaints = [];
    page.on('console', (message) => {
      // Chromium tells of every 4xx.
      if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('dialog', (dialog) => {
      complaints.push(dialog.message());
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(service.origin)) complaints.push(request.url());
    });
  }

  async function reopen(options: Parameters<Browser['newContext']>[0]): Promise<void> {
    await page.context().close();
    await open(options);
  }

  const ask = async (url: string, agent = 'ExampleBot'): Promise<void> => {
    await page.goto(`${service.origin}/`);
    await page.getByLabel('URL', { exact: true }).fill(url);
    await page.getByLabel('Agent', { exact: true }).fill(agent);
    await page.getByRole('button', { name: 'Check' }).click();
    await page.locator('.banner').waitFor();
  };
  const text = (selector: string): Promise<string> => page.locator(selector).innerText();

  it('shows the verdict, the line that decides, the runner-up, the group and the marks', async () => {
    await ask(site.url('/private/press/1'));
    expect(await text('.banner')).toMatch(/✓\s*Allowed/);
    expect(await text('.decides')).toMatch(/3[\s\S]*Allow: \/private\/press[\s\S]*decides/);
    expect(await text('.runner-up')).toMatch(/2[\s\S]*Disallow: \/private[\s\S]*runner-up/);
    expect(await page.locator('.in-group .number').allInnerTexts()).toEqual(['1', '2', '3', '4']);
    expect(await page.locator('#line-4 .mark a').getAttribute('aria-label')).toContain('Dissalow');
    expect(await text('.notes')).toContain('Dissalow');
    expect(await page.locator('.timeline .what').allInnerTexts()).toEqual([
      expect.stringContaining('robots.txt answered'),
      'Now',
      expect.stringContaining('Refreshed ahead'),
      'Fresh until here',
    ]);
    expect(new URL(page.url()).search).toContain('agent=ExampleBot');
  });

  it('lights the lines of another agent when that is picked, and tells its preferences', async () => {
    await ask(site.url('/private/press/1'));
    await page.getByRole('button', { name: 'GPTBot' }).click();
    expect(await text('.banner')).toMatch(/✕\s*Disallowed/);
    expect(await text('.decides')).toMatch(/7[\s\S]*Disallow: \//);
    expect(await text('.usage')).toMatch(/Training AI models\s+✕\s*Disallowed/);
    expect(await page.getByRole('button', { name: 'GPTBot' }).getAttribute('aria-pressed')).toBe('true');
  });

  it('answers a deep link', async () => {
    await page.goto(`${service.origin}/?url=${encodeURIComponent(site.url('/private'))}&agent=ExampleBot`);
    await page.locator('.banner.disallowed').waitFor();
    expect(await text('.decides')).toContain('Disallow: /private');
  });

  it('tells of an outage, and when it asks again', async () => {
    await ask(down.url('/a'));
    expect(await text('.banner')).toMatch(/\?\s*Undecided/);
    expect(await text('.timeline')).toMatch(
      /First failure status 503[\s\S]*Now[\s\S]*Next attempt[\s\S]*everything is allowed/,
    );
    expect(await page.locator('.file').count()).toBe(0);
  });

  it('says beside the verdict that rules may lie beyond the limit, and that the file is a page', async () => {
    await ask(hostile.url('/a'));
    expect(await text('.banner')).not.toContain('rather than a robots.txt');
    await ask(home.url('/a'));
    expect(await text('.banner')).toMatch(/Allowed[^]*looks like a page rather than a robots.txt/);
    await ask(long.url('/a'));
    expect(await text('.banner')).toMatch(/Allowed[^]*goes on past the limit/);
    await page.goto(`${service.origin}/`);
    await page.getByLabel('Try a robots.txt').check();
    await page.getByLabel('robots.txt', { exact: true }).fill('<html><title>Home</title>');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.locator('.matrix').waitFor();
    expect(await text('.banner')).toContain('looks like a page');
  });

  it('tells what is no URL', async () => {
    await page.goto(`${service.origin}/`);
    await page.getByLabel('URL', { exact: true }).fill('foo');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.locator('#status.error').waitFor();
    expect(await text('#status')).toContain('Expected an absolute http, https or ftp URL');
  });

  it('tries a pasted file, for many URLs and agents', async () => {
    await page.goto(`${service.origin}/`);
    await page.getByLabel('Try a robots.txt').check();
    await page.getByLabel('robots.txt', { exact: true }).fill(ROBOTS);
    await page.getByLabel('URLs or paths').fill('/private/a\n/b\nfoo');
    await page.getByLabel('Agents').fill('*, GPTBot');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.locator('.matrix').waitFor();
    expect(await page.locator('.matrix tbody td').allInnerTexts()).toEqual([
      expect.stringMatching(/✕\s*Disallowed\s*line 2/),
      expect.stringMatching(/✕\s*Disallowed\s*line 7/),
      expect.stringMatching(/✓\s*Allowed/),
      expect.stringMatching(/✕\s*Disallowed\s*line 7/),
      expect.stringContaining('Not a URL'),
    ]);
    await page.locator('.matrix button').nth(3).click();
    expect(await text('.decides .number')).toBe('7');
    expect(site.requests.every(({ url }) => url === '/robots.txt')).toBe(true);
  });

  it('shows a hostile file as text, and nothing else comes of it', async () => {
    await ask(hostile.url('/private'));
    expect(await text('.decides code')).toBe('Disallow: /private');
    const shown = await text('.file');
    expect(shown).toContain('<script>window.hacked=1</script>');
    expect(shown).toContain('U+001B[31mred');
    expect(shown).toContain('U+202Egnidaelsim');
    expect(shown).toMatch(/x … and 3,\d+ more characters/);
    expect(await page.content()).not.toContain('\u202e');
    expect(await page.locator('#result script, #result img, #result a[href^=javascript]').count()).toBe(0);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    // 18,000 lines are not all put on the page; they are there for who wants them.
    expect(await page.locator('.lines li').count()).toBeLessThan(1_000);
    await page.locator('.gap button').last().click();
    expect(await page.locator('.lines li').count()).toBeGreaterThan(500);
  });

  it('can be used by keyboard alone', async () => {
    await page.goto(`${service.origin}/`);
    const focused = (): Promise<string> =>
      page.evaluate(
        'document.activeElement.name || document.activeElement.className || document.activeElement.textContent',
      );
    const order: string[] = [];
    for (let presses = 0; presses < 5; presses++) {
      await page.keyboard.press('Tab');
      order.push(await focused());
    }
    expect(order).toEqual(['mode', 'url', 'agent', 'compare', 'Check']);
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Shift+Tab');
    await page.keyboard.type(site.url('/private'));
    await page.keyboard.press('Tab');
    await page.keyboard.type('GPTBot');
    await page.keyboard.press('Enter');
    await page.locator('.banner.disallowed').waitFor();
    // On and on through the result, to the end of the document: nothing holds the focus.
    const seen: string[] = [];
    for (let presses = 0; presses < 60 && !seen.includes('openapi.json'); presses++) {
      await page.keyboard.press('Tab');
      seen.push(await focused());
    }
    expect(seen).toEqual(expect.arrayContaining(['scroll', 'GPTBot', 'file', 'warning', 'openapi.json']));
    // The other mode by the arrow keys, and Ctrl+Enter from a field of many lines.
    await page.locator('input[value=site]').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    await page.keyboard.type('User-agent: *\nDisallow: /');
    await page.keyboard.press('Control+Enter');
    await page.locator('.matrix').waitFor();
    expect(await text('.decides code')).toBe('Disallow: /');
  });

  it('every field and every region has a name', async () => {
    await ask(site.url('/private'));
    const nameless = await page
      .locator('input:visible, textarea:visible, button:visible, [role=region]')
      .evaluateAll((elements) =>
        (
          elements as unknown as {
            labels?: { length: number };
            textContent: string;
            ariaLabel: string | null;
            outerHTML: string;
          }[]
        )
          .filter(
            ({ labels, textContent, ariaLabel }) => !labels?.length && !textContent.trim() && !ariaLabel,
          )
          .map(({ outerHTML }) => outerHTML),
      );
    expect(nameless).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('has contrast enough in the %s (WCAG 2.2 AA)', async (colorScheme) => {
    await reopen({ colorScheme });
    await ask(site.url('/private/press/1'));
    const poor = await page.evaluate(POOR_CONTRAST);
    expect(poor).toEqual([]);
    const ground = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    expect(ground).toBe(colorScheme === 'light' ? 'rgb(245, 246, 248)' : 'rgb(15, 18, 22)');
  });

  it('fits a phone of 320 px without scrolling sideways', async () => {
    await reopen({ viewport: { width: 320, height: 640 } });
    for (const origin of [site, hostile, down]) {
      await ask(origin.url(`/private/${'long'.repeat(100)}`));
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    }
  });
});

/** Texts whose colour is less than 4.5 to 1 against what is behind them. */
const POOR_CONTRAST = `(() => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, alpha = 1] = channels(getComputedStyle(at).backgroundColor);
      if (alpha > 0) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const element of document.body.querySelectorAll('*')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!own || element.closest('.hidden') || element.getClientRects().length === 0) continue;
    const front = luminance(channels(getComputedStyle(element).color).slice(0, 3));
    const back = luminance(behind(element));
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    if (ratio < 4.5) poor.push(element.className + ' ' + element.textContent.slice(0, 30) + ' ' + ratio.toFixed(2));
  }
  return poor;
})()`;
