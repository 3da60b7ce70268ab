import { describe, expect, it } from 'vitest';
import { ftpTransport } from '../../../src/extras/ftp/ftp.ts';
import { type RobotsClient, type RobotsClientOptions } from '../../../src/index.ts';
import { DAY, SECOND, START, testClient, type VirtualClock } from '../../support/client.ts';
import { type FtpScript, type FtpSite, startFtpSite } from '../../support/ftp-site.ts';
import { opened } from '../../support/opened.ts';
import { type FtpServer, startVsftpd, vsftpdProgram } from '../../support/vsftpd.ts';

const RULES = 'User-agent: *\nDisallow: /private\nCrawl-delay: 2\n';

function client(options: RobotsClientOptions = {}): { robots: RobotsClient; clock: VirtualClock } {
  const made = testClient({ ftp: ftpTransport(), ...options });
  return { robots: opened(made.client), clock: made.clock };
}

async function site(script?: FtpScript): Promise<FtpSite> {
  return opened(await startFtpSite(script));
}

describe('the option `ftp`', () => {
  it('has to be a transport', () => {
    expect(() => testClient({ ftp: Object({ host: 'ftp.example.com' }) })).toThrow(
      /^Expected `ftp` to be an FTP transport, made by `ftpTransport\(\)` of canfetch\/ftp, got /,
    );
  });

  it('is for ftp: URLs alone', async () => {
    const server = await site();
    const { robots } = client();
    const decision = await robots.check(server.origin.replace('ftp:', 'http:') + '/');
    expect(decision).toMatchObject({ allowed: false, reason: 'unreachable' });
    expect(server.commands.filter((command) => command.startsWith('USER'))).toEqual([]);
  });
});

describe('the address policy', () => {
  it.each([
    ['a literal address', '127.0.0.1'],
    ['a name, by what it resolves to', 'files.example'],
  ])('holds for %s: nothing is connected to', async (_, host) => {
    const server = await site();
    const asked: string[] = [];
    const { robots } = client({
      addressPolicy: 'public-only',
      lookup: (name, _options, callback) => {
        asked.push(name);
        callback(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    });
    expect(await robots.check(`ftp://${host}:${server.port}/`)).toMatchObject({
      allowed: false,
      reason: 'unreachable',
      robots: { error: 'ERR_ROBOTS_ADDRESS_REFUSED' },
    });
    expect(asked).toEqual(host === '127.0.0.1' ? [] : [host]);
    expect(server.connections()).toBe(0);
  });
});

describe('refusals of an FTP server', () => {
  it.each([
    ['530 to the login', { PASS: '530 No.' }, { status: 530, error: 'ERR_ROBOTS_STATUS' }],
    ['450 to RETR', { RETR: '450 Busy.' }, { status: 450, error: 'ERR_ROBOTS_STATUS' }],
    ['silence', { greeting: () => undefined }, { error: 'ERR_ROBOTS_DEADLINE' }],
  ] satisfies [string, FtpScript, object][])('%s disallows everything', async (_, script, seen) => {
    const server = await site(script);
    const { robots, clock } = client({
      deadlineMs: 'error' in seen && seen.error === 'ERR_ROBOTS_DEADLINE' ? 200 : 10_000,
    });
    for (const path of ['/', '/pub/a', '/private']) {
      expect(await robots.check(server.origin + path)).toMatchObject({
        allowed: false,
        reason: 'unreachable',
        state: 'disallow-all',
        retryAt: START + 30 * SECOND,
        robots: { ...seen, url: `${server.origin}/robots.txt` },
      });
    }
    expect(server.connections()).toBe(1);
    clock.advance(30 * SECOND);
    expect(await robots.canFetch(`${server.origin}/`)).toBe(false);
    expect(server.connections()).toBe(2);
  });

  it('leave the last good copy in force', async () => {
    let busy = false;
    const server = await site({ USER: ({ reply }) => reply(busy ? '421 Busy.' : '230 Welcome.') });
    const { robots, clock } = client();
    expect(await robots.canFetch(`${server.origin}/private`)).toBe(false);
    busy = true;
    clock.advance(DAY);
    expect(await robots.check(`${server.origin}/private`)).toMatchObject({
      allowed: false,
      state: 'last-good',
    });
    expect(await robots.check(`${server.origin}/pub`)).toMatchObject({
      allowed: true,
      state: 'last-good',
      robots: { status: 421, error: 'ERR_ROBOTS_STATUS' },
    });
    clock.advance(30 * DAY);
    expect(await robots.check(`${server.origin}/pub`)).toMatchObject({ allowed: true, state: 'last-good' });
  });

  it('550 to RETR allows everything, under every profile', async () => {
    const server = await site({ RETR: '550 No such file.' });
    for (const profile of ['rfc9309', 'google', 'google-legacy', 'koster-1996', 'robotstxt-1994'] as const) {
      const { robots } = client({ profile });
      expect(await robots.check(`${server.origin}/private`)).toMatchObject({
        allowed: true,
        reason: 'unavailable',
        state: 'allow-all',
        robots: { status: 550 },
      });
    }
    expect(server.retrievals()).toBe(5);
  });
});

describe('closing', () => {
  it('leaves no connection, and tells who waits', async () => {
    const { robots } = client();
    const closing: Promise<void>[] = [];
    const server = await site({ RETR: () => void closing.push(robots.close()) });
    await expect(robots.check(`${server.origin}/`)).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
    await Promise.all(closing);
    await server.whenLeft();
  });
});

const program = vsftpdProgram();

describe.skipIf(program === undefined)('an ftp: origin served by vsftpd', () => {
  async function server(settings?: Readonly<Record<string, string>>): Promise<FtpServer> {
    const started = await startVsftpd(program ?? '', settings);
    opened({ [Symbol.asyncDispose]: () => started.close() });
    return started;
  }

  it('is decided by the rules of its file, asked for once', async () => {
    const { origin, put, commands } = await server();
    put('robots.txt', RULES);
    const { robots } = client();
    const url = `${origin}/private/report`;
    expect(robots.peek(url)).toBeUndefined();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => robots.check(at % 2 === 0 ? url : `${origin}/pub/${at}`)),
    );
    expect(answers.map(({ allowed }) => allowed)).toEqual(answers.map((_, at) => at % 2 === 1));
    expect(answers[0]).toMatchObject({
      url,
      origin,
      allowed: false,
      reason: 'rule',
      state: 'rules',
      rule: { directive: 'disallow', pattern: '/private', line: 2 },
      crawlDelayMs: 2_000,
      robots: { url: `${origin}/robots.txt`, status: 226, source: 'network' },
    });
    expect(robots.peek(url)).toMatchObject({ allowed: false, robots: { source: 'memory' } });
    expect(await robots.canFetch(`${origin}/pub`)).toBe(true);
    expect(await robots.canFetch(`${origin}/robots.txt`)).toBe(true);
    expect(await robots.policy(url)).toMatchObject({
      state: 'rules',
      crawlDelayMs: 2_000,
      file: { truncated: false },
    });
    expect(robots.stats()).toMatchObject({ attempts: 1, origins: 1 });
    expect(commands('RETR')).toEqual(['RETR /robots.txt']);
    expect(commands('USER')).toEqual(['USER anonymous']);
    expect(commands('TYPE')).toEqual(['TYPE I']);
    expect(commands('PASV')).toEqual([]);
  });

  it('that forbids passive transfers is unreachable, not without a file', async () => {
    const { origin, put } = await server({ pasv_enable: 'NO' });
    put('robots.txt', RULES);
    const { robots } = client();
    expect(await robots.check(`${origin}/pub`)).toMatchObject({
      allowed: false,
      reason: 'unreachable',
      robots: { status: 550 },
    });
  });
});
