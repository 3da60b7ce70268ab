import { describe, expect, it } from 'vitest';
import { openedForAll, siteForAll } from '../../support/opened.ts';
import { answer } from '../../support/site.ts';
import { ask, type PlainAnswer, startService } from './service.ts';

const ROBOTS = `User-agent: *
Disallow: /private
Allow: /private/press
Dissalow: /x
Content-Signal: ai-train=no

User-agent: GPTBot
Disallow: /
`;
const HOSTILE = `User-agent: *
Disallow: /private
# <script>window.hacked=1</script> \u001b[31mred \u202egnidaelsim
Allow: /"><img src=x onerror=alert(1)>
Sitemap: javascript:window.hacked=1
Content-Signal: ai-train=no, <b>search</b>=yes
`;

const site = await siteForAll({ '/robots.txt': { body: ROBOTS } });
const hostile = await siteForAll({ '/robots.txt': { body: HOSTILE } });
const down = await siteForAll((_, response) =>
  answer(response, { status: 503, headers: { 'retry-after': '120' } }),
);
const home = await siteForAll({ '/robots.txt': { body: '<!doctype html><title>Home</title>' } });
const service = openedForAll(await startService(['--allow-private', '-a', 'ExampleBot/1.0']));

const OWN = { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'document' };
const get = (query: Readonly<Record<string, string>>): Promise<PlainAnswer> =>
  ask(service.origin, `/?${new URLSearchParams(query)}`, { headers: OWN });

/** Sends the form for a file, as a browser does. */
async function send(fields: Readonly<Record<string, string | Blob>>): Promise<PlainAnswer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const request = new Request(service.origin, { method: 'POST', body: form });
  const headers = { ...OWN, 'content-type': request.headers.get('content-type') ?? '' };
  return ask(service.origin, '/try', { method: 'POST', headers, body: await request.text() });
}

/** The text of a page, or of the elements of a class, without markup. */
function textOf(html: string, part = '<main>'): string {
  const from = html.indexOf(part);
  if (from < 0) return '';
  const text = html.slice(from).replaceAll(/<[^>]*>/g, ' ');
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
const banner = (html: string): string =>
  textOf(html.slice(html.indexOf('data-part="banner"') - 40).split('</div>')[0] ?? '', '<div')
    .replaceAll(/\s+/g, ' ')
    .trim();

describe('the page', () => {
  it('has a form alone, without a question, and no script', async () => {
    const { status, headers, text } = await get({});
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).not.toMatch(/<script|data-part="banner"|\son\w+=/);
    expect(text).toContain('<title>canfetch: may this agent fetch this URL?</title>');
  });

  it('answers the question of its address: verdict, agents side by side, file, notes', async () => {
    const url = site.url('/private/press/1');
    const { text } = await get({ url, agent: 'GPTBot', compare: 'OtherBot, *' });
    expect(banner(text)).toBe(`✕ Disallowed GPTBot may not fetch ${url} line 8 Disallow: / decides`);
    expect(text).toContain(`<title>Disallowed: ${new URL(site.origin).host} · canfetch</title>`);
    expect(
      text
        .split('Agents side by side')[1]
        ?.split('</table>')[0]
        ?.match(/<td><span class="verdict \w+/g)
        ?.map((each) => each.split(' ').at(-1)),
    ).toEqual(['disallowed', 'allowed', 'allowed']);
    expect(text.match(/class="line[^"]*"/g)?.filter((each) => each.includes('in-group'))).toHaveLength(4);
    expect(text).toContain('"Dissalow" is read as "disallow".'.replaceAll('"', '&quot;'));
    // A press on another agent is a link to the same question for that one.
    const link = /href="(\/\?[^"]*agent=OtherBot[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(banner((await ask(service.origin, link, { headers: OWN })).text)).toContain('OtherBot may fetch');
  });

  it('says "Allowed, but not wanted" where a preference decides', async () => {
    const { text } = await get({ url: site.url('/a'), purpose: 'train-ai', compare: '' });
    expect(banner(text)).toMatch(
      /^! Allowed, but not wanted ExampleBot may fetch .* train-ai: not wanted, by line 5 {1,2}Content-Signal: ai-train=no$/,
    );
    expect(banner((await get({ url: site.url('/a'), purpose: 'search' })).text)).toMatch(/^✓ Allowed /);
  });

  it('says of an outage that it is undecided, why, and when to ask again', async () => {
    const { text } = await get({ url: down.url('/a') });
    expect(banner(text)).toMatch(
      /^\? Undecided ExampleBot should wait before it fetches .* robots.txt is unreachable \(503\).* next try in 2 min/,
    );
    expect(textOf(text)).toMatch(/Failed\s+1 time in a row|failed\s+1 time in a row/);
    expect(text).not.toContain('data-part="listing"');
  });

  it('says that a page came instead of a file, and that the lifetime is for that reason', async () => {
    const { text } = await get({ url: home.url('/a') });
    expect(banner(text)).toContain('The response looks like a web page rather than a robots.txt');
    expect(textOf(text)).toContain('a page came instead of the file, which is looked for again after 10 min');
  });

  it('refuses a purpose that is none, and names those that are', async () => {
    const { status, text } = await get({ url: site.url('/a'), purpose: 'bogus' });
    expect(status).toBe(400);
    expect(textOf(text)).toContain('Expected the purpose to be one of train-ai,');
  });

  it('shows a hostile file, and hostile questions, as text', async () => {
    const { text } = await get({ url: hostile.url('/private'), agent: 'A', compare: '' });
    expect(text).not.toMatch(/<script|<img|<b>|href="javascript|\u001b|\u202e/);
    expect(textOf(text)).toContain('# <script>window.hacked=1</script> \\x1b[31mred \\u{202e}gnidaelsim');
    const asked = await get({
      url: '"><script>1</script>',
      agent: '</textarea><script>1</script>',
      compare: '</textarea><script>',
    });
    expect(asked.status).toBe(400);
    expect(asked.text).not.toContain('<script');
    expect(
      (await send({ robots: '</textarea><script>1</script>', url: '</textarea><script>' })).text,
    ).not.toContain('<script');
  });

  it.each<[string, Record<string, string>, string, RegExp]>([
    ['a URL that is none', { url: 'foo' }, 'url', /Expected an absolute http, https or ftp URL/],
    ['an agent without a name', { url: 'https://a.example/', agent: '!!' }, 'agent', /product token/],
    ['one among others', { url: 'https://a.example/', compare: 'A, !!, B' }, 'compare', /product token/],
    [
      'too many agents',
      { url: 'https://a.example/', compare: Array.from({ length: 101 }, (_, at) => `a${at}`).join() },
      'compare',
      /Expected at most 100 agents, got 101/,
    ],
  ])('says at its field what is wrong: %s', async (_, query, field, message) => {
    const { status, text } = await get(query);
    expect(status).toBe(400);
    expect(text).toMatch(
      new RegExp(`id="${field}"[^>]* aria-describedby="fault [^>]*aria-invalid="true" autofocus`),
    );
    expect(/id="fault"[^>]*role="alert">([^]*?)<\/p>/.exec(text)?.[1]).toMatch(message);
    expect(text).not.toContain('data-part="banner"');
  });

  it('completes a bare host, and takes a list in one field or in several', async () => {
    const { text } = await ask(service.origin, '/?url=nowhere.invalid/a&agent=A&compare=B%2C+C&compare=D');
    expect(text).toContain('value="https://nowhere.invalid/a"');
    expect(text).toMatch(/name="compare"[^>]*>\s*B, C, D</);
  });
});

describe('the form for a file', () => {
  it('gives the verdict for a path, beside those of other agents, and fetches nothing', async () => {
    const before = site.requests.length;
    const { status, text } = await send({ robots: ROBOTS, url: '/private/a', agent: '*', compare: 'GPTBot' });
    expect(status).toBe(200);
    expect(banner(text)).toMatch(/^✕ Disallowed \* may not fetch \/private\/a line 2/);
    expect(textOf(text, 'Agents side by side')).toMatch(/GPTBot\s+✕\s+Disallowed\s+line 8/);
    expect(text).toContain('robots.txt, 8 lines');
    expect(site.requests).toHaveLength(before);
  });

  it('takes a file that was opened, heeds a purpose, and asks about / without a path', async () => {
    const { text } = await send({ robots: '', file: new Blob([ROBOTS]), agent: '', purpose: 'train-ai' });
    expect(banner(text)).toMatch(/^! Allowed, but not wanted ExampleBot may fetch \/ /);
    expect(text).toContain('<textarea id="robots"');
    expect(text).toContain('Dissalow: /x\nContent-Signal');
  });

  it.each(['', ' \n'])('says of an empty file (%j) that it has no rules', async (robots) => {
    const { status, text } = await send({ robots, url: '/a', agent: 'A' });
    expect([status, banner(text)]).toEqual([200, expect.stringMatching(/^✓ Allowed A may fetch/)]);
    expect(textOf(text)).toContain('This robots.txt is empty: it has no rules.');
    expect((await send({ robots: ROBOTS, url: '/a' })).text).not.toContain('is empty');
  });

  it('names no command where it says who keeps the delay', async () => {
    const { text } = await send({ robots: 'User-agent: *\nCrawl-delay: 2\n', url: '/a' });
    expect(textOf(text)).toContain('Crawl-delay 2 s (guards with  pacing  keep it)');
  });

  it.each<[string, Record<string, string>, string, RegExp]>([
    ['neither URL nor path', { url: 'foo' }, 'url', /a path that starts with/],
    ['an agent without a name', { agent: 'A\n!!' }, 'agent', /product token/],
    ['a file that is no text', { robots: '\0' }, 'robots', /UTF-8/],
  ])('says at its field what is wrong: %s', async (_, fields, field, message) => {
    const { status, text } = await send({ robots: ROBOTS, ...fields });
    expect(status).toBe(400);
    expect(text).toMatch(new RegExp(`id="${field}"[^>]*aria-invalid="true"`));
    expect(/id="fault"[^>]*>([^]*?)<\/p>/.exec(text)?.[1]).toMatch(message);
  });

  it('refuses what is no form, and what is too large', async () => {
    const post = (type: string, body: string): Promise<PlainAnswer> =>
      ask(service.origin, '/try', { method: 'POST', headers: { ...OWN, 'content-type': type }, body });
    expect((await post('text/plain', 'x')).status).toBe(400);
    expect((await post('multipart/form-data; boundary=x', 'x')).status).toBe(400);
    const large = await send({ robots: 'x'.repeat(2_100_000) });
    expect([large.status, large.headers['connection']]).toEqual([413, 'close']);
    expect(large.text).toContain('id="fault"');
  });
});
