import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWithChromium } from '../../support/chromium.ts';
import { answer, type Site, startSite } from '../../support/site.ts';
import { OpenPage } from './open-page.ts';

const MODES = {
  site: 'Ask a site',
  list: 'Ask about many URLs',
  text: 'Try a robots.txt',
};

const NO_TOKEN = expect.stringMatching(/product token.*got "!!"$/);
const NO_URL = expect.stringContaining('Expected an absolute http, https or ftp URL');
const many = (count: number): string => Array.from({ length: count }, (_, index) => `/${index}`).join('\n');

/** The mode, what is filled into which fields, the field with the error, and the error. */
const FAULTS: readonly [keyof typeof MODES, Readonly<Record<string, string>>, string, unknown][] = [
  ['site', { url: 'foo' }, 'url', NO_URL],
  ['site', { url: 'https://a.example/', agent: '!!' }, 'agent', NO_TOKEN],
  ['site', { url: 'https://a.example/', agent: 'ExampleBot', compare: 'A, !!, B' }, 'compare', NO_TOKEN],
  [
    'site',
    { url: 'https://a.example/', agent: many(101).replaceAll('\n', ', ') },
    'agent',
    'Expected at most 100 agents, got 101',
  ],
  [
    'site',
    { url: 'https://a.example/', compare: many(101) },
    'compare',
    'Expected at most 100 agents, got 101',
  ],
  ['list', { urls: '' }, 'urls', expect.stringContaining('Expected URLs')],
  ['list', { urls: 'foo\n/bar' }, 'urls', expect.stringContaining('Expected absolute URLs')],
  ['list', { urls: 'http://127.0.0.1:1/\nfoo', agents: 'A, !!' }, 'agents', NO_TOKEN],
  [
    'list',
    { urls: 'http://127.0.0.1:1/', agents: many(101) },
    'agents',
    'Expected at most 100 agents, got 101',
  ],
  ['text', { urls: 'foo' }, 'urls', expect.stringContaining('Expected URLs, or paths that start with /')],
  ['text', { agents: 'A\n!!' }, 'agents', NO_TOKEN],
  [
    'text',
    { urls: many(501), agents: 'a, b' },
    'urls',
    expect.stringContaining('at most 1,000 verdicts, got 1,002'),
  ],
  ['text', { urls: `/${'x'.repeat(70_000)}` }, 'urls', expect.stringContaining('to be at most')],
  [
    'text',
    { robots: `# ${'x'.repeat(1_100_000)}`, urls: '/' },
    'robots',
    expect.stringContaining('too much'),
  ],
];

describeWithChromium('an error on the page', () => {
  let open: OpenPage;
  let down: Site;

  beforeAll(async () => {
    down = await startSite((_, response) => answer(response, { status: 503 }));
    open = await OpenPage.start();
  });

  afterAll(async () => {
    await open?.[Symbol.asyncDispose]();
    await down?.close();
  });

  beforeEach(() => open.open({ viewport: { width: 360, height: 740 } }));
  afterEach(() => expect(open.complaints).toEqual([]));

  const submit = (): Promise<void> => open.page.locator('#submit').click();
  const fill = (name: string, value: string): Promise<void> =>
    open.page.locator(`[name=${name}]`).fill(value);

  it.each(FAULTS)('stands at its field: %s, case %#', async (mode, values, field, says) => {
    await open.visit();
    await open.page.getByLabel(MODES[mode]).check();
    for (const [name, value] of Object.entries(values)) await fill(name, value);
    await submit();
    expect(await open.fault()).toEqual([field, says]);
    expect(await open.page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });

  it('goes when the question is asked again, and when another mode is chosen', async () => {
    await open.visit();
    const { page } = open;
    const agent = page.locator('[name=agent]');
    const described = (): Promise<readonly (string | null)[]> =>
      Promise.all([agent.getAttribute('aria-invalid'), agent.getAttribute('aria-describedby')]);
    await fill('url', down.url('/'));
    await fill('agent', '!!');
    await submit();
    await open.fault();
    expect(await described()).toEqual(['true', 'fault agent-hint']);
    // Nothing moves under the pointer on its way to the button.
    await fill('agent', 'ExampleBot');
    await page.locator('[name=url]').focus();
    expect(await page.locator('#fault').count()).toBe(1);
    await submit();
    await open.banner('undecided');
    expect(await described()).toEqual([null, 'agent-hint']);
    expect(await page.locator('#fault').count()).toBe(0);
    await fill('agent', '!!');
    await submit();
    await open.fault();
    expect(await page.locator('[data-part=result]').isVisible()).toBe(false);
    await page.getByLabel(MODES.text).check();
    expect(await page.locator('#fault').count()).toBe(0);
  });

  it('stands in the status line when it belongs to no field', async () => {
    await open.visit();
    await open.page.route('**/v1/explain*', (route) =>
      route.fulfill({ status: 503, json: { code: 'ERR_ROBOTS_BUSY', detail: 'Expected fewer requests' } }),
    );
    await fill('url', down.url('/'));
    await submit();
    await open.page.locator('#status.error').waitFor();
    await open.page.unroute('**/v1/explain*');
    expect(await open.text('#status')).toContain('The service is busy');
    expect(await open.page.locator('#fault, [aria-invalid]').count()).toBe(0);
  });
});
