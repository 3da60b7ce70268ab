import { beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../../src/apps/cli/commands.ts';
import { opened, openedSite } from '../../support/opened.ts';
import { type Proxy, startProxy } from '../../support/proxy.ts';
import { type Site } from '../../support/site.ts';
import { cli, records } from './session.ts';

let proxy: Proxy;
let site: Site;
/** The site under a name that the proxy alone can resolve. */
let url: string;
beforeEach(async () => {
  proxy = opened(await startProxy());
  site = await openedSite({ '/robots.txt': { body: 'User-agent: *\nDisallow: /x\n' } });
  url = `${site.origin.replace('127.0.0.1', 'site.test')}/x`;
});

const DISALLOWED = 1;
const UNDECIDED = 3;

describe('every command that fetches goes over a proxy', () => {
  it('that --proxy names', async () => {
    const fetching = commands.filter(({ options }) => options.some(({ name }) => name === 'deadline-ms'));
    expect(fetching.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['check', 'explain', 'policy', 'lint', 'prefetch', 'serve']),
    );
    for (const { options } of fetching) expect(options.map(({ name }) => name)).toContain('proxy');
    await cli(['check', '--proxy', proxy.url, url]);
    await cli(['explain', '--proxy', proxy.url, url]);
    await cli(['policy', '--proxy', proxy.url, url]);
    await cli(['lint', '--proxy', proxy.url, url]);
    await cli(['test', '--proxy', proxy.url, url, '-e', '-'], { stdin: 'allow * /' });
    await cli(['prefetch', '--proxy', proxy.url, '-'], { stdin: `${url}\n` });
    expect(proxy.requests).toEqual(Array.from({ length: 6 }, () => new URL('/robots.txt', url).href));
    expect(site.requests).toHaveLength(6);
    expect(proxy.tunnels).toEqual([]);
  });

  it.each([
    ['HTTP_PROXY', {}],
    ['http_proxy', { HTTP_PROXY: 'http://127.0.0.1:1' }],
    ['all_proxy', {}],
    ['ALL_PROXY', {}],
    ['HTTP_PROXY', { NO_PROXY: 'other.test' }],
    ['HTTP_PROXY', { http_proxy: '' }],
    ['ALL_PROXY', { http_proxy: '', HTTP_PROXY: '', all_proxy: '' }],
  ])('that %s names, beside %o', async (name, more) => {
    const env = { [name]: proxy.url, ...more };
    expect((await cli([url], { env })).code).toBe(DISALLOWED);
    expect(proxy.requests).toHaveLength(1);
    expect(site.requests).toHaveLength(1);
  });

  it('that is written without a scheme', async () => {
    expect((await cli([url], { env: { http_proxy: proxy.url.slice('http://'.length) } })).code).toBe(
      DISALLOWED,
    );
    expect(proxy.requests).toHaveLength(1);
  });

  it.each([
    ['NO_PROXY names the host', { NO_PROXY: 'site.test' }],
    ['no_proxy comes first', { no_proxy: '*', NO_PROXY: '' }],
    ['no_proxy is empty, and NO_PROXY names the host', { no_proxy: '', NO_PROXY: 'site.test' }],
    ['a CGI server may have made HTTP_PROXY', { REQUEST_METHOD: 'GET' }],
  ])('but not where %s', async (_, more) => {
    expect((await cli([url], { env: { HTTP_PROXY: proxy.url, ...more } })).code).toBe(UNDECIDED);
    expect([proxy.requests, proxy.tunnels]).toEqual([[], []]);
  });

  it('https through a tunnel, by HTTPS_PROXY, and not by HTTP_PROXY', async () => {
    const secure = url.replace('http:', 'https:');
    await cli([secure], { env: { HTTP_PROXY: proxy.url } });
    expect(proxy.tunnels).toEqual([]);
    await cli([secure], { env: { HTTPS_PROXY: proxy.url } });
    expect(proxy.tunnels.map(({ authority }) => authority)).toEqual([new URL(secure).host]);
    expect(proxy.requests).toEqual([]);
  });

  it('with the credentials of its URL', async () => {
    const secure = url.replace('http:', 'https:');
    await cli([secure, '--proxy', proxy.url.replace('//', '//me:secret@')]);
    expect(proxy.tunnels[0]?.authorization).toBe(`Basic ${btoa('me:secret')}`);
  });
});

it('what the proxy refuses is told as its refusal, with its status', async () => {
  const refusal = { status: 403, headers: { 'x-squid-error': 'ERR_ACCESS_DENIED 0' } };
  await using refusing = await startProxy({ refusal });
  const { code, stdout } = await cli(['check', '--json', '--proxy', refusing.url, url]);
  expect(code).toBe(UNDECIDED);
  expect(records(stdout)).toMatchObject([{ robots: { error: 'ERR_ROBOTS_PROXY', status: 403 } }]);
  const text = await cli(['check', '--proxy', refusing.url, url.replace('http:', 'https:')]);
  expect(text.stdout).toContain('403, a proxy refused the request, ERR_ROBOTS_PROXY');
});

describe('wrong proxies are wrong usage, and nothing is asked', () => {
  it.each([
    ['check', ['http://site.test/']],
    ['policy', ['http://site.test']],
    ['lint', ['http://site.test']],
  ])('of `%s`', async (command, operands) => {
    const { code, stderr } = await cli([command, '--proxy', 'socks5://127.0.0.1:1', ...operands]);
    const expected = /^canfetch: Expected --proxy to be the URL of an http/;
    expect([code, stderr]).toEqual([2, expect.stringMatching(expected)]);
  });

  it.each([
    ['--proxy', ['--proxy', 'socks5://u:secret@127.0.0.1:1'], {}],
    ['HTTPS_PROXY', [], { HTTPS_PROXY: 'ftp://u:secret@127.0.0.1:1' }],
    ['http_proxy', [], { http_proxy: 'http://u:secret@:::' }],
    ['--proxy', ['--proxy', 'http://u:secret@127.0.0.1:1/path'], {}],
    ['--proxy', ['--proxy', 'http://127.0.0.1:1/?password=secret'], {}],
    ['ALL_PROXY', [], { ALL_PROXY: 'http://u:secret%@127.0.0.1:1' }],
  ])('of %s, whose password is not shown', async (name, options, env) => {
    const { code, stderr } = await cli([url, ...options], { env });
    expect(code).toBe(2);
    expect(stderr).toContain(`Expected ${name} to be the URL of`);
    expect(stderr).not.toContain('secret');
    expect(site.requests).toEqual([]);
  });

  it('of `serve`, which answers for public addresses alone, unless --allow-private is given', async () => {
    const { code, stderr } = await cli(['serve', '--port', '0', '--proxy', proxy.url]);
    expect(code).toBe(2);
    expect(stderr).toContain('give --allow-private if the proxy itself refuses private addresses');
  });
});
