import { readFile } from 'node:fs/promises';
import { deflateRawSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWithChromium } from '../../support/chromium.ts';
import { answer, type Site, startSite } from '../../support/site.ts';
import { OpenPage } from './open-page.ts';

const ROBOTS = 'User-agent: *\nDisallow: /private\n\n# The end\tis near\nUser-agent: GPTBot\nDisallow: /\n';

const HOSTILE = [
  'User-agent: <img src=x onerror="window.hacked=1">',
  '<script>window.hacked=1</script>',
  'User-agent: =cmd|calc',
  'Disallow: /',
  'User-agent: *',
  'Disallow: /"><script>window.hacked=1</script>',
  'Disallow: /private',
  'Disallow: /\u001b[31mred\u001b[0m',
  'Disallow: /\u202egnidaelsim',
  `Disallow: /${'x'.repeat(5_000)}`,
  'Content-Signal: ai-train=no, <b>search</b>=yes',
  'Sitemap: javascript:window.hacked=1',
  ...Array.from({ length: 18_000 }, (_, index) => `Disallow: /line-${index}`),
].join('\n');

describeWithChromium('the page in use', () => {
  let open: OpenPage;
  let site: Site;
  let hostile: Site;
  let slow: Site;

  beforeAll(async () => {
    site = await startSite({ '/robots.txt': { body: ROBOTS } });
    hostile = await startSite({ '/robots.txt': { body: HOSTILE } });
    slow = await startSite((_, response) => {
      setTimeout(() => void answer(response, { body: ROBOTS }), 60_000).unref();
    });
    open = await OpenPage.start(['--allow-private', '--deadline-ms', '30000']);
  });

  afterAll(async () => {
    await open?.[Symbol.asyncDispose]();
    await Promise.all([site, hostile, slow].map((each) => each?.close()));
  });

  beforeEach(() => open.open({ permissions: ['clipboard-read', 'clipboard-write'] }));
  afterEach(() => expect(open.complaints).toEqual([]));

  const clipboard = (): Promise<string> =>
    open.page.evaluate('navigator.clipboard.readText()') as Promise<string>;

  it('answers a link, which holds the URL, the agent, the list and the purpose', async () => {
    await open.visit();
    const { page } = open;
    await page.getByLabel('URL', { exact: true }).fill(site.url('/private'));
    await page
      .getByLabel('Agent', { exact: true })
      .fill('Mozilla/5.0 (KHTML, like Gecko; compatible; ExampleBot/1.0)');
    await page.getByLabel('Compare with').fill('GPTBot, *');
    await page.getByLabel('Purpose').selectOption('search');
    await open.check();
    const before = await open.text('[data-part=result] .agents');
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const link = await clipboard();
    expect(link).toBe(page.url());
    await open.open();
    await open.page.goto(link);
    await open.banner('disallowed');
    expect(await open.text('[data-part=result] .agents')).toBe(before);
    expect(await open.page.locator('.agents tbody tr').count()).toBe(3);
    expect(await open.page.title()).toBe(`Disallowed: ${new URL(site.origin).host} · canfetch`);
    await open.visit(`?url=${encodeURIComponent(site.url('/private'))}&agent=ExampleBot`);
    await open.banner('disallowed');
    expect(await open.page.locator('.agents tbody tr').count()).toBe(7);
  });

  it('answers a link with a pasted file, which no server sees', async () => {
    const robots = `${ROBOTS}# ${'ü😀'.repeat(20_000)}\n`;
    await open.paste(robots, '/private/a\n/b', '*, GPTBot');
    const link = open.page.url();
    expect(link.length).toBeLessThan(1_500);
    const seen: string[] = [];
    await open.open();
    open.page.on('request', (request) => seen.push(new URL(request.url()).pathname));
    await open.page.goto(link);
    await open.banner('disallowed');
    expect(await open.page.getByLabel('robots.txt', { exact: true }).inputValue()).toBe(robots);
    expect(await open.page.locator('.matrix tbody td').count()).toBe(4);
    expect(seen[0]).toBe('/');
  });

  it.each([
    ['no base64', '#try=%%%'],
    ['no compressed text', '#try=AAAA'],
    ['no JSON', '#try=S0xKBgA'],
  ])('reports a damaged link: %s', async (_, fragment) => {
    await open.visit(fragment);
    await open.page.locator('#status.error').waitFor();
    expect(await open.text('#status')).toContain('The link is damaged');
    expect(await open.page.locator('[aria-invalid]').count()).toBe(0);
  });

  it.each([
    ['bytes', Buffer.alloc(50_000_000)],
    ['lines of a file', JSON.stringify({ robots: '\n'.repeat(500_000) })],
    ['URLs', JSON.stringify({ robots: '', urls: Array.from({ length: 60_000 }, () => '/') })],
  ])('does not read a short link that unpacks to many %s', async (_, unpacked) => {
    await open.visit(`#try=${deflateRawSync(unpacked).toString('base64url')}`);
    await open.page.locator('#status.error').waitFor();
    expect(await open.text('#status')).toContain('The link holds more than the page reads');
    expect(await open.page.locator('[data-part=banner]').count()).toBe(0);
  });

  it('asks nothing by itself when another site brought the visitor, and asks when the button is pressed', async () => {
    const asked = site.requests.length;
    const target = `${open.service.origin}/?url=${encodeURIComponent(site.url('/private'))}&agent=LinkBot`;
    const body = `<script>location = ${JSON.stringify(target)}</script>`;
    await using foreign = await startSite({ '/': { headers: { 'content-type': 'text/html' }, body } });
    await open.page.goto(foreign.url('/'));
    await open.page.waitForURL(target);
    await open.page.getByText('This question came from a link.').waitFor();
    expect(await open.page.getByLabel('URL', { exact: true }).inputValue()).toBe(site.url('/private'));
    // Another fragment, which a page that holds this window could give it, changes nothing.
    await open.page.evaluate(
      `new Promise((done) => { addEventListener('popstate', () => setTimeout(done)); location.hash = 'again'; })`,
    );
    await open.page.getByText('This question came from a link.').waitFor();
    expect(site.requests.length).toBe(asked);
    await open.check();
    expect(await open.banner('disallowed')).toContain('LinkBot');
    open.complaints.splice(0);
  });

  it('goes back and forward through the questions', async () => {
    await open.ask(site.url('/private'));
    const { page } = open;
    await page.getByLabel('URL', { exact: true }).fill(site.url('/open'));
    await page.getByRole('button', { name: 'Check' }).click();
    await open.banner('allowed');
    await page.goBack();
    await open.banner('disallowed');
    expect(await page.getByLabel('URL', { exact: true }).inputValue()).toBe(site.url('/private'));
    await page.goBack();
    await page.locator('[data-part=banner]').waitFor({ state: 'detached' });
    expect(await page.getByLabel('URL', { exact: true }).inputValue()).toBe('');
    expect(await page.title()).toBe('canfetch: may this agent fetch this URL?');
    await page.goForward();
    await open.banner('disallowed');
    await page.goForward();
    await open.banner('allowed');
  });

  it('takes the old verdict away while it asks, tells the seconds, and can be cancelled', async () => {
    await open.ask(site.url('/private'));
    const { page } = open;
    await page.getByLabel('URL', { exact: true }).fill(slow.url('/'));
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    expect(await page.locator('[data-part=banner]').count()).toBe(0);
    expect(await page.title()).not.toContain('Disallowed');
    expect(await open.text('#status')).toBe(`Asking ${new URL(slow.origin).host} …`);
    // On a busy machine a second may pass unseen.
    await page.getByText(/^(?:[2-9]|\d\d+) s/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await open.text('#status')).toBe('Cancelled.');
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    await page.getByLabel('URL', { exact: true }).fill(site.url('/private'));
    await open.check();
  });

  it('shows the whole of a long file by one click, and the search of the browser finds every line', async () => {
    await open.ask(hostile.url('/line-9000'));
    const { page } = open;
    expect(await page.locator('[data-part=listing] .file').isVisible()).toBe(false);
    expect(await open.text('[data-part=excerpt] .decides')).toContain('Disallow: /line-9000');
    await page.getByRole('button', { name: 'Show the whole file' }).click();
    expect(await page.locator('[data-part=listing] .line').count()).toBe(18_012);
    expect(await page.locator('[data-part=listing] .decides').isVisible()).toBe(true);
    const box = await page.locator('[data-part=listing] .file').boundingBox();
    const line = await page.locator('[data-part=listing] .decides').boundingBox();
    expect((line?.y ?? 0) - (box?.y ?? 0)).toBeGreaterThanOrEqual(0);
    expect((line?.y ?? 0) - (box?.y ?? 0)).toBeLessThan(box?.height ?? 0);
    // Far from what is in view.
    expect(await page.evaluate(`window.find('/line-17998')`)).toBe(true);
  });

  it('a selection of the file copies the file, and nothing else', async () => {
    await open.paste(`${ROBOTS}Dissalow: /a\u202eb\u200b\n`, '/private', '*');
    await open.unfold();
    const { page } = open;
    expect(await page.locator('[data-part=listing] .mark').count()).toBeGreaterThan(0);
    await page.evaluate(
      `getSelection().selectAllChildren(document.querySelector('[data-part=listing] .file'))`,
    );
    await page.keyboard.press('Control+c');
    expect(await clipboard()).toBe(`${ROBOTS}Dissalow: /a\u202eb\u200b\n`);
    // Without our help, as a drag would: no numbers, no badges.
    const selected = await page.evaluate('getSelection().toString()');
    expect(String(selected).split('\n').slice(0, 2)).toEqual(['User-agent: *', 'Disallow: /private']);
    // A drag that begins above the file and ends below it leaves caption and button out.
    for (const part of ['excerpt', 'listing']) {
      await page.evaluate(`getSelection().selectAllChildren(document.querySelector('[data-part=${part}]'))`);
      await page.keyboard.press('Control+c');
      const copied = await clipboard();
      expect(copied).toContain('Disallow: /private');
      expect(copied).not.toMatch(/decides|Show the whole file|group that applies/);
    }
  });

  it('takes a file that is dropped, and one that is opened', async () => {
    await open.visit();
    const { page } = open;
    await page.evaluate(`{
      const data = new DataTransfer();
      data.items.add(new File([${JSON.stringify(ROBOTS)}], 'robots.txt'));
      for (const type of ['dragover', 'drop'])
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }`);
    const field = page.getByLabel('robots.txt', { exact: true });
    await field.waitFor();
    await expect.poll(() => field.inputValue()).toBe(ROBOTS);
    await page
      .locator('#file')
      .setInputFiles({ name: 'x', mimeType: '', buffer: Buffer.from('User-agent: x') });
    await expect.poll(() => field.inputValue()).toBe('User-agent: x');
    await page.locator('#file').setInputFiles({ name: 'x', mimeType: '', buffer: Buffer.alloc(2_000_000) });
    expect(await open.fault()).toEqual(['robots', expect.stringContaining('at most 1 MiB, got 2,000,000')]);
    expect(await field.inputValue()).toBe('User-agent: x');
  });

  it('offers known crawlers, and takes up to 100 agents', async () => {
    await open.visit();
    const { page } = open;
    await page.locator('.picker summary').click();
    expect(await page.getByRole('checkbox', { name: 'GPTBot' }).isChecked()).toBe(true);
    await page.getByRole('checkbox', { name: 'GPTBot' }).uncheck();
    await page.getByRole('checkbox', { name: 'PerplexityBot' }).check();
    expect(await page.getByLabel('Compare with').inputValue()).toBe(
      '*, Googlebot, Bingbot, ClaudeBot, CCBot, PerplexityBot',
    );
    const many = Array.from({ length: 99 }, (_, index) => `Bot-${index}`);
    await page.getByLabel('Compare with').fill([...many, 'GPTBot'].join('\n'));
    expect(await page.getByRole('checkbox', { name: 'GPTBot' }).isChecked()).toBe(true);
    await page.getByLabel('URL', { exact: true }).fill(site.url('/b'));
    await open.check();
    expect(await page.locator('.agents tbody tr').count()).toBe(101);
    await page.getByLabel('Compare with').fill([...many, 'a', 'b'].join('\n'));
    await page.getByRole('button', { name: 'Check' }).click();
    expect(await open.fault()).toEqual(['compare', 'Expected at most 100 agents, got 101']);
  });

  it('saves the verdicts as CSV, in which nothing is a formula', async () => {
    await open.paste(
      'User-agent: *\nDisallow: /a"b\nUser-agent: GPTBot\nDisallow: /\n',
      '/a"b\n=1+1',
      '*, GPTBot',
    );
    const [download] = await Promise.all([
      open.page.waitForEvent('download'),
      open.page.getByRole('button', { name: 'Download as CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('canfetch.csv');
    const text = await readFile(await download.path(), 'utf8');
    expect(text.split('\r\n')).toEqual([
      '\ufeff"url","agent","verdict","reason","line","rule","group","error"',
      '"/a""b","*","Disallowed","rule","2","Disallow: /a""b","*",""',
      '"/a""b","GPTBot","Disallowed","rule","4","Disallow: /","GPTBot",""',
      expect.stringMatching(/^"'=1\+1","","","","","","","Expected an absolute/),
      '',
    ]);
  });

  it('shows a hostile file as text, and nothing else comes of it', async () => {
    await open.ask(hostile.url('/private'));
    const { page } = open;
    expect((await open.text('[data-part=excerpt] .decides')).trim()).toBe('Disallow: /private');
    await page.getByRole('button', { name: 'Show the whole file' }).click();
    const shown = String(
      await page.evaluate(`document.querySelector('[data-part=listing] .file').textContent`),
    );
    expect(shown).toContain('<script>window.hacked=1</script>');
    expect(shown).toContain('U+001B[31mred');
    expect(shown).toContain('U+202Egnidaelsim');
    expect(await page.content()).not.toContain('\u202e');
    expect(await page.locator('#result script, #result img, #result a[href^=javascript]').count()).toBe(0);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
  });

  it('can be used by keyboard alone', async () => {
    await open.visit();
    const { page } = open;
    const focused = (): Promise<string> =>
      page.evaluate(
        'document.activeElement.name || document.activeElement.className || document.activeElement.textContent',
      );
    const order: string[] = [];
    for (let presses = 0; presses < 8; presses++) {
      await page.keyboard.press('Tab');
      order.push(await focused());
    }
    expect(order).toEqual([
      'canfetch',
      'mode',
      'url',
      'agent',
      'compare',
      'Known crawlers',
      'purpose',
      'Check',
    ]);
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    for (let presses = 0; presses < 5; presses++) await page.keyboard.press('Shift+Tab');
    await page.keyboard.type(site.url('/private'));
    await page.keyboard.press('Tab');
    await page.keyboard.type('GPTBot');
    await page.keyboard.press('Enter');
    await open.banner('disallowed');
    await page.locator('[data-part=listing] summary').press('Enter');
    await page.locator('#submit').focus();
    // On and on through the result, to the end of the document: nothing holds the focus.
    const seen: string[] = [];
    for (let presses = 0; presses < 60 && !seen.includes('openapi.json'); presses++) {
      await page.keyboard.press('Tab');
      seen.push(await focused());
    }
    expect(seen).toEqual(
      expect.arrayContaining([
        'Show the whole file',
        'Copy link',
        'scroll',
        'GPTBot',
        'file',
        'openapi.json',
      ]),
    );
    // The other mode by the arrow keys, and Ctrl+Enter from a field of many lines.
    await page.locator('input[value=site]').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    await page.keyboard.type('User-agent: *\nDisallow: /');
    await page.keyboard.press('Control+Enter');
    await page.locator('.matrix').waitFor();
    expect((await open.text('[data-part=excerpt] .decides')).trim()).toBe('Disallow: /');
  });
});
