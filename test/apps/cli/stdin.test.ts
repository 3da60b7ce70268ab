import { PassThrough, Readable, Writable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { MAX_LINE_LENGTH } from '../../../src/apps/answers/input/targets.ts';
import { eventually } from '../../support/eventually.ts';
import { siteForAll } from '../../support/opened.ts';
import { settled } from '../../support/settled.ts';
import { startSite } from '../../support/site.ts';
import { cli, records } from './session.ts';

const site = await siteForAll({ '/robots.txt': { body: 'User-agent: *\nDisallow: /private' } });
const slow = await siteForAll((_request, response) => void setTimeout(() => response.end(), 200));

describe('URLs from standard input', () => {
  it('are answered line by line; blank lines and comments are passed over, a bad line is reported', async () => {
    const stdin = `# a list\n\n${site.url('/a')}\r\n  ${site.url('/private')}  \nnot a url\n${site.url('/b')}`;
    const { code, stdout } = await cli(['--json', '-'], { stdin });
    expect(code).toBe(2);
    expect(records(stdout).map(({ line, input, allowed, error }) => [line, input, allowed ?? error])).toEqual(
      [
        [3, site.url('/a'), true],
        [4, site.url('/private'), false],
        [5, 'not a url', expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_URL' })],
        [6, site.url('/b'), true],
      ],
    );
  });

  it.each(['', '\n\n', '# nothing yet\n'])(
    'are expected: a list without any (%j) is wrong usage, not a yes',
    async (stdin) => {
      for (const argv of [
        ['check', '-'],
        ['check', '--json', '--robots', 'package.json', '-'],
      ]) {
        expect(await cli(argv, { stdin })).toEqual({
          code: 2,
          stdout: '',
          stderr: 'canfetch: Expected at least one URL in standard input, got none\n',
        });
      }
    },
  );

  it('are what a file of URLs is for: given as a URL, its name is answered with the way to read it', async () => {
    const { code, stderr } = await cli(['check', 'package.json']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/; to read URLs from this file, write: canfetch check - < package\.json\n$/);
    expect((await cli(['check', 'no-such-file.json'])).stderr).toContain(
      'did you mean "https://no-such-file.json"?',
    );
  });

  it('name the line of what is no URL', async () => {
    const { stderr } = await cli(['-'], { stdin: `${site.url('/a')}\nnot a url\n` });
    expect(stderr).toBe('canfetch: line 2: Expected an absolute http, https or ftp URL, got "not a url"\n');
  });

  it('may be cut into chunks anywhere', async () => {
    const text = `${site.url('/ä')}\n${site.url('/b')}\n`;
    const stdin = Readable.from([...Buffer.from(text)].map((byte) => Buffer.of(byte)));
    const { stdout } = await cli(['--json', '-'], { stdin });
    expect(records(stdout).map(({ input }) => input)).toEqual([site.url('/ä'), site.url('/b')]);
  });

  it('keep their order when an early one is slow', async () => {
    const urls = [slow.url('/'), site.url('/1'), site.url('/2')];
    const { stdout } = await cli(['--json', '-'], { stdin: urls.join('\n') });
    expect(records(stdout).map(({ input }) => input)).toEqual(urls);
  });

  it('stand where the "-" stands among arguments', async () => {
    const { stdout } = await cli(['--json', site.url('/1'), '-', site.url('/3')], { stdin: site.url('/2') });
    expect(records(stdout).map(({ input }) => input)).toEqual([1, 2, 3].map((each) => site.url(`/${each}`)));
  });

  it('are refused when longer than any URL, and do not fill the memory', async () => {
    const chunks = [...Array<string>(100).fill('x'.repeat(MAX_LINE_LENGTH)), '\n', site.url('/a')];
    const { code, stdout } = await cli(['--json', '-'], { stdin: chunks });
    const [tooLong, fine] = records(stdout);
    expect(code).toBe(2);
    expect(tooLong).toMatchObject({ line: 1, error: { message: expect.stringContaining('a longer line') } });
    expect(String(tooLong?.['input'])).toHaveLength(MAX_LINE_LENGTH);
    expect(fine).toMatchObject({ line: 2, allowed: true });
  });

  it('are answered as they come, before the input ends', async () => {
    const stdin = new PassThrough();
    const stdout = new PassThrough({ encoding: 'utf8' });
    const running = cli(['--json', '-'], { stdin, stdout });
    stdin.write(`${site.url('/now')}\n`);
    const first = await new Promise((resolve) => stdout.once('data', resolve));
    expect(first).toContain('/now');
    stdin.end();
    stdout.resume();
    expect((await running).code).toBe(0);
  });

  it('are read no faster than the answers are taken', async () => {
    let read = 0;
    const stdin = Readable.from(
      (async function* lines() {
        for (; read < 20_000; read++) yield `${site.url(`/${read}`)}\n`;
      })(),
    );
    const written = vi.fn();
    const stuck = new Writable({ highWaterMark: 1, write: written });
    const stop = new AbortController();
    const running = cli(['--json', '-'], { stdin, stdout: stuck, signal: stop.signal });
    await eventually(() => expect(written).toHaveBeenCalledOnce());
    expect(await settled(() => read)).toBeLessThan(2_000);
    stop.abort(new Error('Interrupted'));
    stuck.destroy();
    expect((await running).code).toBe(130);
  });
});

describe('the end', () => {
  it('ends quietly when the output is not read any more', async () => {
    const broken = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
    });
    const endless = new PassThrough();
    endless.write(`${site.url('/a')}\n`.repeat(10));
    const { code, stderr } = await cli(['-'], { stdin: endless, stdout: broken });
    expect([code, stderr]).toEqual([141, '']);
    expect(endless.destroyed).toBe(true);
  });

  it('tells when the answers cannot be written', async () => {
    const failure = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    });
    const full = new Writable({ write: (_chunk, _encoding, done) => done(failure) });
    const { code, stderr } = await cli(['-'], { stdin: twoUrls(), stdout: full });
    expect([code, stderr]).toEqual([70, 'canfetch: ENOSPC: no space left on device, write\n']);
  });

  it('comes at once with Ctrl-C, while waiting for a server or for input', async () => {
    await using hanging = await startSite(() => undefined);
    for (const argv of [[hanging.url('/')], ['-']]) {
      const stop = new AbortController();
      setTimeout(() => stop.abort(new Error('Interrupted')), 100);
      const { code, stderr } = await cli(argv, { stdin: new PassThrough(), signal: stop.signal });
      expect([code, stderr]).toEqual([130, '']);
    }
  });
});

describe('Ctrl-C in a list', () => {
  it('ends it after whole lines, which have their numbers', async () => {
    const stop = new AbortController();
    const stdout = new PassThrough({ encoding: 'utf8' });
    let written = '';
    stdout.on('data', (text: string) => {
      written += text;
      setImmediate(() => stop.abort(new Error('Interrupted')));
    });
    const stdin = new PassThrough();
    stdin.write(`# two\n${site.url('/a')}\n${site.url('/robots.txt')}\n`);
    const { code, stderr } = await cli(['--json', '-'], { stdin, stdout, signal: stop.signal });
    expect([code, stderr]).toEqual([130, '']);
    expect(written).toMatch(/\n$/);
    expect(records(written)[0]).toMatchObject({ line: 2, input: site.url('/a') });
  });
});

const twoUrls = (): string => `${site.url('/a')}\n${site.url('/private')}\n`;

describe('a summary of a list', () => {
  it.each([
    ['follows on a terminal', ['-'], true, '2 URLs · 1 disallowed\n'],
    ['is left out elsewhere', ['-'], false, ''],
    ['is left out with --json', ['--json', '-'], true, ''],
  ])('%s', async (_name, argv, stderrIsTTY, summary) => {
    expect((await cli(argv, { stdin: twoUrls(), stderrIsTTY })).stderr).toBe(summary);
  });
});
