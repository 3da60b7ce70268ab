import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { siteForAll } from '../../support/opened.ts';
import { answer } from '../../support/site.ts';
import { exitCode } from '../../../src/apps/cli/frame/command.ts';
import { cli, records } from './session.ts';

let closed = 0;

const site = await siteForAll(({ url }, response) => {
  if (url === '/robots.txt')
    answer(response, { body: 'User-agent: *\nAllow: /\nDisallow: /private\nCrawl-delay: 0\n' });
  else if (url === '/to') answer(response, { status: 302, headers: { location: '/page' } });
  else if (url === '/astray') answer(response, { status: 302, headers: { location: '/private' } });
  else if (url === '/lost') answer(response, { status: 302, headers: { location: 'http://127.0.0.1:1/' } });
  else if (url === '/plain') answer(response, { body: 'a page' });
  else if (url === '/signal') answer(response, { body: '', headers: { 'content-signal': 'ai-train=no' } });
  else if (url === '/guarded') answer(response, { status: 403, headers: { 'cf-mitigated': 'challenge' } });
  else if (url === '/busy') answer(response, { status: 429 });
  else if (url === '/nowhere') answer(response, { status: 302, headers: { location: 'http://a b/' } });
  else if (url === '/tdm') answer(response, { headers: { 'tdm-reservation': '1' } });
  else if (url === '/broken') response.destroy();
  else {
    response.on('close', () => closed++);
    response.writeHead(200, {
      'x-robots-tag': ['noindex, max-snippet: 20', 'otherbot: nofollow'],
      'content-signal': 'ai-train=no',
      link: '</terms>; rel="license"',
    });
    response.write('the first bytes of a body without end\u001B[31m');
  }
});

const explain = (path: string, ...argv: readonly string[]): ReturnType<typeof cli> =>
  cli(['explain', '--page', '-a', 'ExampleBot', ...argv, site.url(path)]);
const pagesOf = (): string[] => site.requests.map(({ url }) => url).filter((url) => url !== '/robots.txt');

describe('explain --page', () => {
  it('shows what the header fields of the page say, beside the rule, and cancels the body', async () => {
    const { code, stdout, stderr } = await explain('/to');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^ALLOWED {5}\S+\/to\n/);
    expect(stdout).toMatch(/\n {2}page +http\S+\/page {2}200\n/);
    expect(stdout).toMatch(/\n {2}says +x-robots-tag: noindex, x-robots-tag: max-snippet: 20\b/);
    expect(stdout).toMatch(/\n {2}states +the header field Content-Signal: ai-train=no\n/);
    expect(stdout).not.toContain('\u001B');
    expect(pagesOf()).toEqual(['/to', '/page']);
    await eventually(() => expect(closed).toBe(1));
    const names = site.requests.map(({ headers }) => headers['user-agent']);
    expect(new Set(names)).toEqual(new Set(['ExampleBot']));
  });

  it.each([
    ['/guarded', 'but Cloudflare turns it away (403)', 'cloudflare'],
    ['/busy', 'but the site turns it away (429)', undefined],
  ])(
    'says beside ALLOWED that the page of %s is not given all the same',
    async (path, beside, gatekeeper) => {
      const { code, stdout } = await explain(path);
      expect([code, stdout.split('\n')[0]]).toEqual([0, `ALLOWED     ${site.url(path)}  ${beside}`]);
      expect((await explain('/plain')).stdout).not.toContain('turns it away');
      const [record] = records((await explain(path, '--json')).stdout);
      expect(Reflect.get(Object(record?.['page']), 'gatekeeper')).toBe(gatekeeper);
    },
  );

  it('asks for no page that may not be fetched, at the first hop or a later one', async () => {
    const before = pagesOf().length;
    const disallowed = await explain('/private');
    expect(disallowed.code).toBe(1);
    expect(disallowed.stdout).toMatch(
      /\n {2}page +not read: it may not be fetched, so it was not requested\n/,
    );
    const astray = await explain('/astray');
    expect(astray.code).toBe(1);
    expect(astray.stdout).toMatch(/^DISALLOWED {2}\S+\/astray\n/);
    expect(astray.stdout).toMatch(
      /\n {2}page +not read: \S+\/astray redirects to \S+\/private: robots.txt of \S+ disallows \S+\/private/,
    );
    expect(astray.stdout).toMatch(/\n {2}rule +line 2  Allow: \/; its redirect is refused\n/);
    const lost = await explain('/lost');
    expect(lost.code).toBe(exitCode.undecided);
    expect(lost.stdout).toMatch(/^UNDECIDED {3}\S+\/lost\n/);
    expect(pagesOf().slice(before)).toEqual(['/astray', '/lost']);
  });

  it('quotes a Location that is not a URL', async () => {
    const { code, stdout } = await explain('/nowhere');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /\n {2}page +not read: \S.*redirect of \S+\/nowhere: Location "http:\/\/a b\/" is not a URL\n/,
    );
  });

  it('names a field that is its own directive once', async () => {
    expect((await explain('/tdm')).stdout).toMatch(/\n {2}says +tdm-reservation: 1\n/);
  });

  it('JSON has the directives with their sources, or the error', async () => {
    expect(records((await explain('/page', '--json')).stdout)).toMatchObject([
      {
        allowed: true,
        page: {
          url: site.url('/page'),
          status: 200,
          directives: { index: false, follow: true, maxSnippet: 20 },
          usage: {
            'train-ai': 'disallow',
            sources: [{ directive: 'content-signal' }, { directive: 'link' }],
          },
        },
      },
    ]);
    expect(records((await explain('/astray', '--json')).stdout)).toMatchObject([
      {
        allowed: true,
        page: {
          error: {
            code: 'ERR_ROBOTS_DISALLOWED',
            message: expect.stringMatching(/^\S+\/astray redirects to \S+\/private: /),
            requested: site.url('/astray'),
            redirects: [],
            decision: { url: site.url('/private'), allowed: false },
          },
        },
      },
    ]);
    expect(records((await explain('/broken', '--json')).stdout)).toMatchObject([
      { allowed: true, page: { error: { message: expect.any(String) } } },
    ]);
  });

  it('says when a page says nothing, and without the option asks for none', async () => {
    expect((await explain('/plain')).stdout).toMatch(/\n {2}says +nothing in its header fields\n/);
    const signal = (await explain('/signal')).stdout;
    expect(signal).not.toContain('nothing in its header fields');
    expect(signal).toMatch(/\n {2}states +the header field Content-Signal: ai-train=no\n/);
    const before = pagesOf().length;
    expect((await cli(['explain', site.url('/plain')])).stdout).not.toContain('  page ');
    expect(pagesOf()).toHaveLength(before);
  });

  it('counts what the page states about --purpose', async () => {
    const unwanted = await explain('/signal', '--purpose', 'train-ai');
    expect(unwanted.code).toBe(1);
    expect(unwanted.stdout).toMatch(/^NOT WANTED {2}\S+\/signal\n/);
    expect(unwanted.stdout).toMatch(
      /\n {2}purpose +train-ai: not wanted, by the header field Content-Signal: ai-train=no\n/,
    );
    expect(await explain('/signal', '--purpose', 'search')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\n {2}purpose +search: the site does not say\n/),
    });
  });
});
