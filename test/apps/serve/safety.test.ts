import { createConnection } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openedForAll } from '../../support/opened.ts';
import { startSite } from '../../support/site.ts';
import { ask, startService } from './service.ts';

const NAMES = ['Robots.Internal', 'with-port.internal:8309', '2001:db8::1'];
const service = openedForAll(await startService());
const named = openedForAll(
  await startService(['--allow-private', ...NAMES.flatMap((name) => ['--allow-host', name])]),
);

/** Sends what no HTTP library would, and resolves with all that comes back until the connection ends. */
function send(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => (received += String(chunk)));
    socket.on('end', () => resolve(received));
    socket.on('error', reject);
    socket.write(text);
  });
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

describe('Host (DNS rebinding)', () => {
  it.each(['localhost', 'LOCALHOST', '127.0.0.1', '[::1]', '127.0.0.1:1', 'localhost.'])(
    '%s is ours',
    async (host) => {
      expect((await ask(service.origin, '/healthz', { headers: { host } })).status).toBe(200);
    },
  );

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:80', '192.0.2.1'])(
    '%s is not',
    async (host) => {
      const { status, text } = await ask(service.origin, '/v1/check?url=http://a.example/', {
        headers: { host },
      });
      expect([status, JSON.parse(text).code]).toEqual([421, 'ERR_ROBOTS_FOREIGN_HOST']);
    },
  );

  it.each(['evil.example#localhost', 'localhost@evil.example', '[::1', 'localhost:x', 'localhost/'])(
    '%s is invalid (RFC 9112 §3.2)',
    async (host) => {
      const { status, headers, text } = await ask(service.origin, '/healthz', { headers: { host } });
      expect([status, headers['connection'], JSON.parse(text).code]).toEqual([
        400,
        'close',
        'ERR_ROBOTS_INVALID_REQUEST',
      ]);
    },
  );

  it.each(['Host: localhost', 'hOST: evil.example'])(
    'a second line %s is refused (RFC 9112 §3.2)',
    async (line) => {
      const request = `GET /healthz HTTP/1.1\r\nHost: localhost\r\n${line}\r\n\r\n`;
      const text = await send(service.port, request.repeat(2));
      // The connection ends with the refusal.
      expect(text.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 400']);
    },
  );

  it.each(['robots.internal:8309', 'robots.internal', 'with-port.internal', '[2001:db8::1]:80'])(
    '--allow-host makes %s ours',
    async (host) => {
      const headers = { host };
      expect((await ask(named.origin, '/healthz', { headers })).status).toBe(200);
      expect((await ask(service.origin, '/healthz', { headers })).status).toBe(421);
    },
  );
});

describe('pages of other sites', () => {
  it.each<[string, Record<string, string>]>([
    ['Origin', { origin: 'https://evil.example' }],
    ['an Origin that tells nothing', { origin: 'null' }],
    ['Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }],
    ['Sec-Fetch-Site of a sibling', { 'sec-fetch-site': 'same-site' }],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }],
  ])('cannot POST: %s', async (_, headers) => {
    for (const path of ['/try', '/v1/check']) {
      const { status, text } = await ask(service.origin, path, {
        method: 'POST',
        headers,
        body: '',
      });
      expect([status, JSON.parse(text).code]).toEqual([403, 'ERR_ROBOTS_FOREIGN_SITE']);
    }
  });

  it('cannot request by a script, an image or a frame', async () => {
    const headers = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-dest': 'image',
    };
    expect(
      (
        await ask(service.origin, '/v1/check?url=http://a.example/', {
          headers,
        })
      ).status,
    ).toBe(403);
  });

  it.each(['cross-site', 'same-site'])('cannot navigate to anything but the page: %s', async (from) => {
    const navigation = { 'sec-fetch-site': from, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    await using site = await startSite({ '/robots.txt': { body: 'User-agent: *\nAllow: /\n' } });
    const url = encodeURIComponent(site.url('/x'));
    for (const path of [
      `/v1/check?url=${url}`,
      `/v1/policy?origin=${url}`,
      `/v1/explain?url=${url}`,
      '/metrics',
      '/healthz',
      '/page/style.css',
      '/try',
    ]) {
      const { status, text } = await ask(service.origin, path, { headers: navigation });
      expect([path, status, JSON.parse(text).code]).toEqual([path, 403, 'ERR_ROBOTS_FOREIGN_SITE']);
    }
    expect(site.requests).toEqual([]);
    expect((await ask(service.origin, `/?url=${url}`, { headers: navigation })).status).toBe(200);
    // Typed into the address bar, or a bookmark.
    const own = { ...navigation, 'sec-fetch-site': 'none' };
    expect((await ask(service.origin, `/v1/check?url=${url}`, { headers: own })).status).toBe(200);
  });

  it('our own page can, and so can programs, and links lead here', async () => {
    const own = { origin: service.origin, 'sec-fetch-site': 'same-origin' };
    for (const headers of [{ ...own, ...FORM }, FORM]) {
      expect((await ask(service.origin, '/try', { method: 'POST', headers, body: 'robots=' })).status).toBe(
        200,
      );
    }
    for (const dest of [{ 'sec-fetch-dest': 'document' }, {}]) {
      const headers = { 'sec-fetch-site': 'cross-site', ...dest };
      expect((await ask(service.origin, '/', { headers })).status).toBe(200);
    }
  });

  it('the page asks only for a visitor who came on their own: a link from elsewhere waits for the button', async () => {
    await using site = await startSite({ '/robots.txt': { body: 'User-agent: *\nAllow: /\n' } });
    const asks = async (from: string | undefined): Promise<readonly [number, boolean]> => {
      const headers = { ...(from && { 'sec-fetch-site': from }) };
      const before = site.requests.length;
      const { text } = await ask(service.origin, `/?url=${site.url(`/${from}`)}`, { headers });
      expect(text).toContain(`value="${site.url(`/${from}`)}"`);
      return [site.requests.length - before, text.includes('This question is not asked yet.')];
    };
    for (const from of ['same-site', 'cross-site', undefined]) expect(await asks(from)).toEqual([0, true]);
    expect(await asks('none')).toEqual([1, false]);
    expect(await asks('same-origin')).toEqual([0, false]);
  });

  // Over plain HTTP, browsers send no Sec-Fetch-Site to other names than those of this machine.
  it.each<[string, string | undefined, boolean]>([
    ['its own form', 'http://robots.internal:8309/?url=x', true],
    ['its own form, at the name as the visitor wrote it', 'http://Robots.Internal:8309/', true],
    ['no page', undefined, false],
    ['another site', 'http://evil.example/?http://robots.internal:8309/', false],
    ['a site of a similar name', 'http://robots.internal:8309.evil.example/', false],
    ['another port', 'http://robots.internal:8310/', false],
  ])('under a name of --allow-host, without Sec-Fetch-Site, by Referer: %s', async (_, referer, isAsked) => {
    await using site = await startSite({ '/robots.txt': { body: 'User-agent: *\nAllow: /\n' } });
    const headers = { host: 'robots.internal:8309', ...(referer && { referer }) };
    const { text } = await ask(named.origin, `/?url=${site.url('/a')}`, { headers });
    expect(text.includes('This question is not asked yet.')).toBe(!isAsked);
    expect(site.requests).toHaveLength(isAsked ? 1 : 0);
    const fromAfar = { ...headers, 'sec-fetch-site': 'cross-site' };
    expect((await ask(named.origin, `/?url=${site.url('/b')}`, { headers: fromAfar })).text).toContain(
      'This question is not asked yet.',
    );
  });
});

it('every answer has the restrictive header fields', async () => {
  for (const path of ['/', '/page/style.css', '/healthz', '/nothing']) {
    const { headers } = await ask(service.origin, path);
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; script-src 'none'; .*frame-ancestors 'none'/,
      ),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  }
});

it('a request for another server by its whole URL is not for us', async () => {
  const request = 'GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
  const text = await send(service.port, request);
  expect(text).toMatch(/^HTTP\/1\.1 404 /);
});

it('asks public addresses alone, unless it is told otherwise', async () => {
  const site = await startSite({ '/robots.txt': { body: '' } });
  await using careful = await startService([]);
  for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]']) {
    const url = encodeURIComponent(site.url('/a').replace('127.0.0.1', host));
    const { text } = await ask(careful.origin, `/v1/check?url=${url}`);
    expect(JSON.parse(text)).toMatchObject({
      allowed: false,
      robots: { error: 'ERR_ROBOTS_ADDRESS_REFUSED' },
    });
  }
  expect(site.requests).toEqual([]);
  const { text } = await ask(service.origin, `/v1/check?url=${encodeURIComponent(site.url('/a'))}`);
  expect(JSON.parse(text)).toMatchObject({ allowed: true });
  await site.close();
});

it.each(['/', '/page/style.css', '/healthz'])('%s is not stored', async (path) => {
  expect((await ask(service.origin, path)).headers['cache-control']).toBe('no-store');
});
