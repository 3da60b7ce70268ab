import { describe, expect, it } from 'vitest';
import { answer, startSite } from '../../support/site.ts';
import { AGENT, LOCAL, served, startHost, textsOf } from './host.ts';

const ROBOTS = {
  headers: { 'content-type': 'text/plain' },
  body: 'User-agent: *\nDisallow: /private\nAllow: /private/open\nSitemap: https://example.com/map.xml\n',
};
const robotsCount = ({ requests }: { readonly requests: readonly { readonly url: string }[] }): number =>
  requests.filter(({ url }) => url === '/robots.txt').length;

describe('the tools', () => {
  it('are described so that hosts and models can choose them: titles, schemas, annotations', async () => {
    await using host = await startHost(LOCAL);
    const { tools } = await host.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['check_url', 'explain_url', 'site_policy', 'fetch_page']);
    for (const { title, description, inputSchema, outputSchema, annotations } of tools) {
      expect(title).toMatch(/^[A-Z].*robots\.txt/);
      expect(annotations).toMatchObject({ title, readOnlyHint: true, openWorldHint: true });
      expect(description?.length).toBeGreaterThan(100);
      expect(inputSchema).toMatchObject({ type: 'object', required: ['url'], additionalProperties: false });
      expect(outputSchema).toMatchObject({ type: 'object', properties: { code: {}, why: {}, retryAt: {} } });
      for (const schema of Object.values(inputSchema.properties ?? {})) {
        expect(schema).toHaveProperty('description');
      }
    }
    expect(host.client.getInstructions()).toContain(AGENT);
    expect(host.client.getServerVersion()?.name).toBe('canfetch');
  });

  it('have no argument that ignores robots.txt or fetches under another name', async () => {
    await using host = await startHost(LOCAL);
    const { tools } = await host.client.listTools();
    const names = tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})]);
    expect(names).toEqual([
      ['check_url', ['url', 'agent']],
      ['explain_url', ['url', 'agent']],
      ['site_policy', ['url', 'agent']],
      ['fetch_page', ['url', 'start', 'format']],
    ]);
    await using site = await startSite({ '/robots.txt': ROBOTS, '/private': { body: 'secret' } });
    for (const more of [{ ignoreRobotsTxt: true }, { robots: { ignore: true } }, { agent: 'Other' }]) {
      const result = await host.call('fetch_page', { url: site.url('/private'), ...more });
      expect(result.isError).toBe(true);
      expect(textsOf(result).join()).toContain('Unrecognized key');
    }
    expect(site.requests).toEqual([]);
  });

  it.each([
    [{}, ['url', 'expected string, received undefined']],
    [
      { url: `https://a.example/${'a'.repeat(9_000)}` },
      ['url', 'Too big: expected string to have <=8192 characters'],
    ],
    [{ url: 'https://example.com/', x: 1 }, ['Unrecognized key: "x"']],
    [
      { url: 7, start: 'next' },
      ['url', 'expected string, received number', 'start', 'expected number, received string'],
    ],
  ])('tell the model what is wrong with the arguments %j', async (args, expected) => {
    await using host = await startHost(LOCAL);
    const result = await host.call('fetch_page', args);
    expect(result.isError).toBe(true);
    for (const part of [...expected, 'fetch_page']) expect(textsOf(result).join()).toContain(part);
  });

  it('fetch no other URLs, and none with credentials', async () => {
    await using host = await startHost(LOCAL);
    for (const url of [
      '/page',
      'file:///etc/passwd',
      'ftp://example.com/',
      'http://user:secret@a.example/',
    ]) {
      const { isError, structuredContent } = await host.call('fetch_page', { url });
      expect([isError, structuredContent?.['code']]).toEqual([true, 'ERR_ROBOTS_INVALID_URL']);
      expect(structuredContent?.['why']).not.toContain('secret');
    }
  });

  it('an unknown tool is an error of the protocol', async () => {
    await using host = await startHost(LOCAL);
    await expect(host.call('fetch_everything', {})).rejects.toThrow(/fetch_everything not found/);
  });

  it('an agent without a product token is told to the model', async () => {
    await using host = await startHost(LOCAL);
    const { isError, structuredContent } = await host.call('check_url', {
      url: 'https://example.com/',
      agent: '???',
    });
    expect([isError, structuredContent?.['code']]).toEqual([true, 'ERR_ROBOTS_INVALID_OPTIONS']);
  });
});

describe('check_url', () => {
  it('gives the decision with the rule, and requests robots.txt alone', async () => {
    const { site, call } = await served({ '/robots.txt': ROBOTS });
    const { isError, structuredContent, ...result } = await call('check_url', '/private/a');
    expect(isError).toBeUndefined();
    expect(structuredContent).toEqual({
      allowed: false,
      reason: 'rule',
      why: `robots.txt of ${site.origin} disallows ${site.url('/private/a')} for ExampleAgent (line 2: "disallow: /private").`,
      rule: { directive: 'disallow', pattern: '/private', line: 2 },
      url: site.url('/private/a'),
      agent: 'ExampleAgent',
    });
    expect(textsOf(result)).toEqual([JSON.stringify(structuredContent)]);
    expect(site.requests.map(({ url, headers }) => [url, headers['user-agent']])).toEqual([
      ['/robots.txt', AGENT],
    ]);
  });

  it('answers for another crawler', async () => {
    const { call } = await served({
      '/robots.txt': { body: 'User-agent: OtherBot\nDisallow: /\nCrawl-delay: 2\n' },
    });
    const own = await call('check_url', '/');
    const others = await call('check_url', '/', { agent: 'OtherBot' });
    expect(own.structuredContent).toMatchObject({ allowed: true, reason: 'no-group' });
    expect(others.structuredContent).toMatchObject({
      allowed: false,
      agent: 'OtherBot',
      crawlDelayMs: 2_000,
    });
  });

  it('makes one request for robots.txt of 50 concurrent calls about an unknown origin', async () => {
    const { site, call } = await served((_, response) => {
      setImmediate(() => answer(response, ROBOTS));
    });
    const results = await Promise.all(Array.from({ length: 50 }, (_, page) => call('check_url', `/${page}`)));
    expect(results.filter(({ structuredContent }) => structuredContent?.['allowed'] === true)).toHaveLength(
      50,
    );
    expect(site.requests).toHaveLength(1);
  });

  it.each(['check_url', 'explain_url'])('%s repeats no password of a URL', async (tool) => {
    const { site, host } = await served({ '/robots.txt': ROBOTS });
    const url = site.url('/private').replace('//', '//user:secret@');
    const checked = await host.call(tool, { url });
    expect(checked.structuredContent).toMatchObject({ allowed: false, url: site.url('/private') });
    const wrong = await host.call(tool, { url: 'https://user:secret@exam ple.com/' });
    expect(wrong.structuredContent).toMatchObject({ code: 'ERR_ROBOTS_INVALID_URL' });
    expect(JSON.stringify([checked, wrong])).not.toContain('secret');
  });

  it('requests nothing of private addresses', async () => {
    await using site = await startSite({ '/robots.txt': ROBOTS });
    await using host = await startHost(['-a', AGENT]);
    for (const url of [site.url('/'), 'http://127.0.0.2/', 'http://[::1]/', 'http://localhost/']) {
      const { structuredContent } = await host.call('check_url', { url });
      expect(structuredContent).toMatchObject({ allowed: false, reason: 'unreachable' });
      expect(structuredContent?.['why']).toContain('ERR_ROBOTS_ADDRESS_REFUSED');
    }
    expect(site.connections()).toBe(0);
  });

  it('tells what the site wants for the purpose of the agent', async () => {
    const { site, call } = await served(
      {
        '/robots.txt': { body: 'User-agent: *\nContent-Usage: train-ai=n\nAllow: /\n' },
        '/page': { body: 'a page', headers: { 'content-type': 'text/plain' } },
      },
      '--purpose',
      'train-ai',
    );
    const checked = await call('check_url', '/page');
    expect(checked.structuredContent).toMatchObject({
      allowed: true,
      purpose: 'train-ai',
      preference: 'disallow',
    });
    const fetched = await call('fetch_page', '/page');
    expect([fetched.isError, fetched.structuredContent?.['code']]).toEqual([true, 'ERR_ROBOTS_USAGE']);
    expect(fetched.structuredContent).not.toHaveProperty('rule');
    expect(robotsCount(site)).toBe(site.requests.length);
  });
});

describe('explain_url', () => {
  it('gives the group, the rules that compete, the lines and what other standards say', async () => {
    const { site, call } = await served({ '/robots.txt': ROBOTS });
    const { isError, structuredContent } = await call('explain_url', '/private/open');
    expect(isError).toBeUndefined();
    expect(structuredContent).toMatchObject({
      allowed: true,
      rule: { line: 3 },
      group: { agent: '*', lines: [1] },
      runnerUp: { rule: { line: 2 }, lost: 'shorter' },
      robots: { url: site.url('/robots.txt'), status: 200 },
    });
    expect(structuredContent?.['lines']).toContainEqual({
      line: 3,
      text: 'Allow: /private/open',
      role: 'decides',
    });
  });

  it('is bounded, however long the lines are', async () => {
    const long = `Disallow: /${'x'.repeat(100_000)}\n`;
    const { call } = await served({
      '/robots.txt': {
        body: `User-agent: *\nDisallow: /a\n${long.repeat(4)}License: https://example.com/${'l'.repeat(9_000)}\n`,
      },
    });
    const { structuredContent } = await call('explain_url', '/a');
    expect(structuredContent).toMatchObject({ allowed: false, rule: { line: 2 } });
    expect(JSON.stringify(structuredContent).length).toBeLessThan(10_000);
  });

  it('shows no control, bidi or tag characters of a file', async () => {
    const hidden = '\u001b[31m\u202e\u{e0041}';
    const { call } = await served({
      '/robots.txt': {
        body: `User-agent: *\nDisallow: /a*${hidden}\nAllow: /\nLicense: https://x/${hidden}\n`,
      },
    });
    for (const tool of ['check_url', 'explain_url', 'site_policy']) {
      const { structuredContent, ...result } = await call(tool, '/a');
      const texts = [JSON.stringify(structuredContent), ...textsOf(result)];
      for (const each of texts) expect(each).not.toMatch(/\\u001b|[\p{Cc}\p{Cf}]/u);
    }
    const { structuredContent } = await call('explain_url', '/a');
    expect(structuredContent?.['lines']).toContainEqual({
      line: 2,
      role: 'decides',
      text: 'Disallow: /a*\\x1b[31m\\u{202e}\\u{e0041}',
    });
  });
});

describe('site_policy', () => {
  it('lists the groups and the sitemaps', async () => {
    const { site, call } = await served({ '/robots.txt': ROBOTS });
    const { structuredContent } = await call('site_policy', '/any');
    expect(structuredContent).toMatchObject({
      state: 'rules',
      origin: site.origin,
      profile: 'rfc9309',
      agent: 'ExampleAgent',
      group: { agent: '*', lines: [1] },
      groups: [{ agents: ['*'], rules: [{ line: 2 }, { line: 3 }] }],
      sitemaps: [{ url: 'https://example.com/map.xml', line: 4 }],
      robots: { status: 200 },
    });
    expect(structuredContent).not.toHaveProperty('omitted');
  });

  it('says what the site prefers for each purpose, for the agent asked about', async () => {
    const { site, host } = await served({
      '/robots.txt': {
        body: 'User-agent: *\nContent-Usage: train-ai=n\n\nUser-agent: OtherBot\nContent-Signal: search=yes, ai-input=no\n',
      },
    });
    const policyOf = async (args: object) =>
      (await host.call('site_policy', { url: site.url('/any'), ...args })).structuredContent;
    const silent = { 'train-ai': 'unknown', 'ai-use': 'unknown', 'ai-input': 'unknown', search: 'unknown' };
    expect(await policyOf({})).toMatchObject({ usage: { ...silent, 'train-ai': 'disallow' } });
    expect(await policyOf({ agent: 'OtherBot' })).toMatchObject({
      usage: { ...silent, search: 'allow', 'ai-input': 'disallow' },
    });
    await using quiet = await startSite({ '/robots.txt': ROBOTS });
    const { structuredContent } = await host.call('site_policy', { url: quiet.url('/') });
    expect(structuredContent).not.toHaveProperty('usage');
  });

  it('is bounded, and says what it leaves out', async () => {
    const groups = Array.from(
      { length: 2_000 },
      (_, n) => `User-agent: Bot-${n}\nDisallow: /${n}\nDisallow: /x\n`,
    );
    const sitemaps = Array.from({ length: 300 }, (_, n) => `Sitemap: https://example.com/${n}.xml\n`);
    const { call } = await served({ '/robots.txt': { body: groups.join('') + sitemaps.join('') } });
    const { structuredContent } = await call('site_policy', '/');
    expect(structuredContent).toMatchObject({ omitted: { groups: 1_800, rules: 3_600, sitemaps: 200 } });
    expect(JSON.stringify(structuredContent).length).toBeLessThan(100_000);
  });

  it('says why nothing may be fetched', async () => {
    const { call } = await served({ '/robots.txt': { status: 500 } });
    const { isError, structuredContent } = await call('site_policy', '/');
    expect(isError).toBeUndefined();
    expect(structuredContent).toMatchObject({
      state: 'disallow-all',
      reason: 'unreachable',
      retryAt: expect.any(Number),
      why: expect.stringContaining('until it is back'),
      groups: [],
    });
  });
});
