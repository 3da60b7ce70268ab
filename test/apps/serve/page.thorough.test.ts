import { createHash } from 'node:crypto';
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

describeWithChromium('the result on the page', () => {
  let open: OpenPage;
  let site: Site;
  let down: Site;
  let home: Site;
  let long: Site;

  beforeAll(async () => {
    site = await startSite({ '/robots.txt': { body: ROBOTS } });
    down = await startSite((_, response) =>
      answer(response, { status: 503, headers: { 'retry-after': '120' } }),
    );
    home = await startSite({ '/robots.txt': { body: '<!doctype html><title>Home</title>' } });
    long = await startSite({ '/robots.txt': { body: `${ROBOTS}${`#${'x'.repeat(999)}\n`.repeat(600)}` } });
    open = await OpenPage.start();
  });

  afterAll(async () => {
    await open?.[Symbol.asyncDispose]();
    await Promise.all([site, down, home, long].map((each) => each?.close()));
  });

  beforeEach(() => open.open());
  afterEach(() => expect(open.complaints).toEqual([]));

  it('shows the verdict, and beside it the line that decides with three lines around it', async () => {
    await open.ask(site.url('/private/press/1'));
    expect(await open.banner()).toMatch(/✓\s*Allowed/);
    const excerpt = open.page.locator('[data-part=excerpt]');
    expect((await excerpt.locator('.line').allInnerTexts()).map((text) => text.trim())).toEqual(
      ROBOTS.split('\n').slice(0, 6),
    );
    expect(await excerpt.locator('.decides').innerText()).toContain('Allow: /private/press');
    const [left, right] = [open.page.locator('[data-part=banner]'), excerpt];
    expect((await left.boundingBox())?.y).toBe((await right.boundingBox())?.y);
  });

  it('marks the line that decides, the runner-up and the group in the file, and lists notes', async () => {
    await open.ask(site.url('/private/press/1'));
    const { page } = open;
    const listing = page.locator('[data-part=listing]');
    await open.unfold('robots.txt');
    expect(await listing.locator('.decides').getAttribute('data-badge')).toBe('decides');
    expect(await listing.locator('.decides').innerText()).toContain('Allow: /private/press');
    expect(await listing.locator('.runner-up').innerText()).toContain('Disallow: /private');
    expect(await listing.locator('.in-group').count()).toBe(4);
    expect(await listing.locator('.mark.warning').getAttribute('aria-label')).toContain('Dissalow');
    await listing.locator('.mark.warning').click();
    expect(await page.evaluate('document.activeElement.id')).toBe('note-0');
    expect(await open.text('.notes')).toContain('Dissalow');
    expect(page.url()).not.toContain('#');
    await open.unfold('Over time');
    expect(await page.locator('.timeline .what').allInnerTexts()).toEqual([
      expect.stringContaining('robots.txt fetched'),
      'Now',
      'The next question from here on fetches it again',
      // Jitter may be less than a minute, which the page does not say.
      expect.stringMatching(/^Expires\b/),
    ]);
  });

  it('marks the lines of another agent when that is picked, and tells its preferences', async () => {
    await open.ask(site.url('/private/press/1'));
    const { page } = open;
    await open.unfold('robots.txt');
    await page.getByRole('button', { name: 'GPTBot', exact: true }).click();
    expect(await open.banner()).toMatch(/✕\s*Disallowed/);
    await open.unfold('Preferences');
    expect(await open.text('[data-part=listing] .decides')).toContain('Disallow: /');
    expect(await page.locator('[data-part=listing] .in-group').count()).toBe(3);
    expect(await open.text('.usage')).toMatch(/Training AI models\s+✕\s*Disallowed/);
    expect(await page.getByRole('button', { name: 'GPTBot', exact: true }).getAttribute('aria-pressed')).toBe(
      'true',
    );
    expect(await page.title()).toBe(`Disallowed: ${new URL(site.origin).host} · canfetch`);
  });

  it('keeps what lies below the verdicts closed until it is asked for, by the keyboard, too', async () => {
    await open.ask(site.url('/private/press/1'), 'GPTBot');
    const { page } = open;
    expect(await page.locator('#result h2').allInnerTexts()).toEqual([
      'Agents side by side',
      'robots.txt, 8 lines',
      'Notes on this file · 1 warning',
      'Over time',
      'Preferences about the use of pages',
      'If a crawler follows other rules',
    ]);
    expect(await page.locator('.agents').isVisible()).toBe(true);
    for (const part of ['.file', '.notes', '.timeline', '.usage', 'table:not(.agents)']) {
      expect([part, await page.locator(`#result ${part}`).first().isVisible()]).toEqual([part, false]);
    }
    await page.getByRole('heading', { level: 2, name: 'Preferences' }).locator('..').focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('.usage').isVisible()).toBe(true);
    // What was opened stays open for another agent.
    await page.getByRole('button', { name: 'GPTBot', exact: true }).last().click();
    expect(await page.locator('.usage').isVisible()).toBe(true);
  });

  it('opens the file when a line of it is asked for, and the notes when a mark in it is', async () => {
    const { page } = open;
    const file = page.locator('#result .file');
    await open.ask(site.url('/private/press/1'));
    await page.getByRole('button', { name: 'Show the whole file' }).click();
    expect(await file.isVisible()).toBe(true);
    expect(await page.locator('.notes').isVisible()).toBe(false);
    await page.locator('.mark.warning').click();
    expect(await page.locator('.notes').isVisible()).toBe(true);
    await open.ask(site.url('/private/press/1'));
    await open.unfold('Notes on this file');
    expect(await file.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'line 4', exact: true }).click();
    expect(await file.isVisible()).toBe(true);
    expect(await page.evaluate('document.activeElement.className')).toBe('file');
  });

  it('says how many errors and warnings the notes hold', async () => {
    for (const [robots, title] of [
      ['User-agent: *\nDissalow: /x\nCrawl-delay: two\n', 'Notes on this file · 2 warnings'],
      ['User-agent: *\nDisallow: /x\nCrawl-delay: 2\n', 'Notes on this file'],
      ['<html>', 'Notes on this file · 1 error'],
    ] as const) {
      await open.paste(robots, '/', '*');
      expect(await open.page.locator('h2', { hasText: 'Notes' }).innerText()).toBe(title);
    }
  });

  it('has targets of 24 px at least', async () => {
    await open.open({ viewport: { width: 360, height: 740 } });
    await open.ask(site.url('/private'));
    await open.page.locator('.picker summary').click();
    await open.unfold();
    const targets = await open.page
      .locator('button, summary, select, textarea, label:has(input), input[type=text], .mark')
      .locator('visible=true')
      .all();
    expect(targets.length).toBeGreaterThan(60);
    for (const target of targets) {
      const { width, height } = (await target.boundingBox())!;
      const html = await target.evaluate((each) => (each as unknown as { outerHTML: string }).outerHTML);
      expect([html, Math.min(width, height, 24)]).toEqual([html, 24]);
    }
  });

  it('has a column for the purpose, which leaves the verdict as it is', async () => {
    await open.visit();
    const { page } = open;
    expect(await page.locator('[name=purpose] option').count()).toBe(5);
    await page.getByLabel('URL', { exact: true }).fill(site.url('/press'));
    await page.getByLabel('Agent', { exact: true }).fill('GPTBot');
    await page.getByLabel('Purpose').selectOption('train-ai');
    await open.check();
    expect(await page.locator('.agents thead th').allInnerTexts()).toContain('Training AI models');
    expect(await page.locator('.agents .preference').allInnerTexts()).toEqual([
      expect.stringMatching(/✕\s*Disallowed line 8/),
      'not stated',
      'not stated',
      'not stated',
      expect.stringMatching(/✕\s*Disallowed line 8/),
      'not stated',
      'not stated',
    ]);
    expect(new URL(page.url()).searchParams.get('purpose')).toBe('train-ai');
  });

  it('says why an outage leaves it undecided, and when to ask again, and never says "may not"', async () => {
    await open.ask(down.url('/a'));
    const banner = await open.banner('undecided');
    expect(banner).toMatch(/\?\s*Undecided/);
    expect(banner).toMatch(
      /could not be read: the server responded with an error, status 503\.\s+Crawlers must wait\. The next try is in 2 min, at \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ\./,
    );
    expect(await open.page.title()).toMatch(/^Undecided: /);
    await open.unfold('Over time');
    expect(await open.text('[data-part=result]')).not.toMatch(/may not|nothing may/);
    expect(await open.text('.timeline')).toMatch(
      /First failure the server responded with an error, status 503[\s\S]*Now[\s\S]*tries again[\s\S]*everything is allowed/,
    );
    expect(await open.page.locator('[data-part=listing], [data-part=excerpt]').count()).toBe(0);
  });

  it('says in the banner that rules may lie beyond the limit, and that the file is a page', async () => {
    await open.ask(site.url('/a'));
    expect(await open.banner()).not.toMatch(/not like a robots\.txt|past it/);
    await open.ask(home.url('/a'));
    expect(await open.banner()).toMatch(/Allowed[^]*looks like a web page, not like a robots.txt/);
    await open.ask(long.url('/a'));
    expect(await open.banner()).toMatch(/Allowed[^]*longer than the limit/);
    await open.paste('<html><title>Home</title>', '/', '*');
    expect(await open.banner()).toContain('looks like a web page');
  });

  it('tries a pasted file, for many URLs and agents, and fetches nothing for it', async () => {
    const { page } = open;
    const before = site.requests.length;
    await open.paste(ROBOTS, '/private/a\n/b\nfoo', '*, GPTBot');
    expect(await page.locator('.matrix tbody td').allInnerTexts()).toEqual([
      expect.stringMatching(/✕\s*Disallowed\s*line 2/),
      expect.stringMatching(/✕\s*Disallowed\s*line 7/),
      expect.stringMatching(/✓\s*Allowed/),
      expect.stringMatching(/✕\s*Disallowed\s*line 7/),
      expect.stringContaining('Not a URL'),
    ]);
    await page.locator('.matrix button').nth(3).click();
    await open.unfold('robots.txt');
    expect(await open.text('[data-part=listing] .decides')).toContain('Disallow: /');
    expect(await page.locator('[data-part=listing] .in-group').count()).toBe(3);
    expect(site.requests).toHaveLength(before);
  });

  it('shows the digest and the age of the file in force', async () => {
    await open.ask(site.url('/private'));
    const facts = await open.text('.facts');
    expect(facts).toContain(createHash('sha256').update(ROBOTS).digest('hex'));
    expect(facts).toMatch(/Last read\s+(?:now|\d+ (?:s|min) ago) · \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/);
  });

  it('never shows a code for a failure, nor what is taken off at random', async () => {
    await using reset = await startSite((_, response) => response.destroy());
    for (const url of [reset.url('/'), down.url('/'), site.url('/'), 'http://nowhere.invalid/']) {
      await open.ask(url);
      await open.unfold();
      expect(await open.text('[data-part=result]')).not.toMatch(/ERR_|E[A-Z]{6,}|at random|unreachable/);
    }
  });

  it('asks a site about many URLs, and shows what is known of each', async () => {
    await open.askMany(
      `${site.url('/private/a')}\n${site.url('/b')}\nfoo\n${down.url('/')}`,
      '*, GPTBot/1.2',
    );
    const { page } = open;
    expect(await page.locator('.matrix tbody td').allInnerTexts()).toEqual([
      expect.stringMatching(/✕\s*Disallowed\s*line 2/),
      expect.stringMatching(/✕\s*Disallowed\s*line 7/),
      expect.stringMatching(/✓\s*Allowed/),
      expect.stringMatching(/✕\s*Disallowed\s*line 7/),
      expect.stringContaining('Not a URL'),
      expect.stringMatching(/\?\s*Undecided/),
      expect.stringMatching(/\?\s*Undecided/),
    ]);
    expect(await open.text('.facts')).toContain(createHash('sha256').update(ROBOTS).digest('hex'));
    await page.locator('.matrix button').last().click();
    expect(await open.banner('undecided')).toMatch(/status 503\.\s+Crawlers must wait\. The next try is in/);
    await page.locator('.matrix button').nth(1).click();
    await page.getByRole('link', { name: 'Everything about this URL' }).click();
    await page.locator('[data-part=listing]').waitFor();
    expect(await open.banner('disallowed')).toContain('GPTBot');
  });

  it('heads many verdicts with their counts, and one verdict with itself', async () => {
    await open.paste(ROBOTS, '/private/a\n/b\nfoo', '*, GPTBot');
    expect(await open.text('[data-part=counts]')).toMatch(/^1 allowed, 3 disallowed\s+3 URLs, 1 not valid$/);
    expect(await open.page.title()).toBe('1 allowed, 3 disallowed: pasted robots.txt · canfetch');
    const [counts, picked] = [await open.box('[data-part=counts] .big'), await open.box('.picked .big')];
    expect(counts.height).toBeGreaterThan(picked.height);
    expect(counts.y).toBeLessThan(picked.y);
    await open.paste(ROBOTS, '/b', '*');
    expect(await open.page.locator('[data-part=counts]').count()).toBe(0);
    expect(await open.banner('allowed')).toMatch(/^✓\s*Allowed/);
  });

  it('asks for paths only where it takes them, and names its button by what it does', async () => {
    await open.visit();
    const { page } = open;
    const labels: string[] = [];
    for (const mode of ['Ask about many URLs', 'Try a robots.txt']) {
      await page.getByLabel(mode).check();
      labels.push(`${await open.text('#urls-label')}, ${await open.text('[type=submit]')}`);
    }
    expect(labels).toEqual(['URLs, Check', 'URLs or paths, Check']);
  });

  it('shows code in notes as code', async () => {
    await open.paste('User-agent: *\nCrawl-delay: two\n', '/', '*');
    await open.unfold('Notes');
    expect(await open.text('.notes')).not.toContain('`');
    expect(await open.page.locator('.notes code').allInnerTexts()).toContain('Crawl-delay: 10');
  });

  it('names the agent beside each verdict on a phone, whole paths, and verdicts of a row on one line', async () => {
    await open.open({ viewport: { width: 390, height: 844 } });
    await open.paste(ROBOTS, '/private/press/release\n/b', '*, Googlebot, GPTBot');
    const { page } = open;
    const labels = `Array.from(document.querySelectorAll('.matrix tr:first-child td'),
      (cell) => getComputedStyle(cell, '::before').content)`;
    expect(await page.evaluate(labels)).toEqual(['"*"', '"Googlebot"', '"GPTBot"']);
    for (const cell of await page.locator('.matrix td').all()) {
      const box = await cell.boundingBox();
      expect(box!.x + box!.width).toBeLessThanOrEqual(390);
    }
    expect((await open.box('.matrix tbody bdi')).height).toBeLessThan(30);
    await page.setViewportSize({ width: 700, height: 844 });
    const [first, second, third] = await page.locator('.matrix tr:first-child .verdict').all();
    const tops = await Promise.all(
      [first, second, third].map(async (each) => (await each!.boundingBox())!.y),
    );
    expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(1);
  });

  it('every field and every region has a name', async () => {
    await open.ask(site.url('/private'));
    await open.page.locator('.picker summary').click();
    await open.unfold();
    const nameless = await open.page
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

  it('has no violation that axe finds, and enough contrast in the dark, too', async () => {
    const { page } = open;
    const violationsOf = async (options: axe.RunOptions): Promise<unknown> => {
      const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as axe.AxeResults;
      return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
    };
    const check = async (what: string): Promise<void> => {
      await page.evaluate(axe.source);
      expect([what, await violationsOf({ resultTypes: ['violations'] })]).toEqual([what, []]);
      // The colours are all that differs in the dark.
      await page.emulateMedia({ colorScheme: 'dark' });
      expect([what, await groundOf()]).toEqual([what, 'rgb(15, 18, 22)']);
      expect([what, await violationsOf({ runOnly: ['color-contrast'] })]).toEqual([what, []]);
      await page.emulateMedia({ colorScheme: 'light' });
      expect([what, await groundOf()]).toEqual([what, 'rgb(245, 246, 248)']);
    };
    const groundOf = (): Promise<unknown> =>
      page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    for (const origin of [site, down, home]) {
      await open.ask(origin.url('/private/press/1'));
      await page.locator('.picker summary').click();
      await check(`${origin.origin}, closed`);
      await open.unfold();
      await check(origin.origin);
    }
    await open.paste(ROBOTS, '/private/a\nfoo', '*, GPTBot');
    await open.unfold();
    await check('a pasted file');
    await open.askMany(`${site.url('/private')}\nfoo\n${down.url('/')}`, '*, GPTBot');
    await check('many URLs');
    await page.getByLabel('Agents', { exact: true }).fill('!');
    await page.getByRole('button', { name: 'Check' }).click();
    await open.fault();
    await check('an error');
  });

  it('prints the answer, not the form', async () => {
    await open.ask(site.url('/private'));
    await open.page.emulateMedia({ media: 'print' });
    for (const hidden of ['form', '.share', 'footer']) {
      expect([hidden, await open.page.locator(hidden).isVisible()]).toEqual([hidden, false]);
    }
    for (const shown of ['[data-part=banner]', '[data-part=excerpt] .decides', '.agents']) {
      expect([shown, await open.page.locator(shown).isVisible()]).toEqual([shown, true]);
    }
  });

  it('fits a phone of 320 px without scrolling sideways', async () => {
    await open.open({ viewport: { width: 320, height: 640 } });
    for (const origin of [site, long, down]) {
      await open.ask(origin.url(`/private/${'long'.repeat(100)}`));
      await open.page.locator('.picker summary').click();
      await open.unfold();
      expect(await open.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    }
    await open.askMany(site.url(`/${'long'.repeat(100)}`), '*, Googlebot, GPTBot, ClaudeBot');
    expect(await open.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });
});
