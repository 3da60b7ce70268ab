import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Moment } from '../../support/moment.ts';
import { runSteps, type Steps } from '../../support/socket-steps.ts';
import { context, DECODED, PROFILE, UNDECODED } from './context.ts';

const CHALLENGE = '<!DOCTYPE html><html><head><title>Just a moment...</title><script>_cf_chl_opt={}</script>';
const HTML = { 'content-type': 'text/html; charset=UTF-8' };
const STRICT = { ...PROFILE, challenge: 'unreachable' } as const;

// One transport of each kind: they are looked for above it.
describe.each([UNDECODED[0]!, DECODED[0]!])('gatekeepers over %s', (_name, make) => {
  const { site, rawSite, fetch } = context(make());
  const staged = async (steps: Steps): Promise<string> =>
    (await rawSite((socket) => void runSteps(socket, steps))).origin;

  it.each([
    [200, 'success'],
    [202, 'success'],
    [401, 'unavailable'],
    [403, 'unavailable'],
    [503, 'unreachable'],
  ])('are reported with a %i, which decides', async (status, kind) => {
    const { origin, requests } = await site({ '/robots.txt': { status, headers: HTML, body: CHALLENGE } });
    expect(await fetch(origin)).toMatchObject({ kind, status, suspect: 'challenge' });
    expect(requests.length).toBe(1);
  });

  it.each([200, 202, 401, 403, 503])('make a %i unreachable under a profile that says so', async (status) => {
    const headers = { ...HTML, 'retry-after': '120' };
    const { origin } = await site({ '/robots.txt': { status, headers, body: CHALLENGE } });
    expect(await fetch(origin, { profile: STRICT })).toMatchObject({
      kind: 'unreachable',
      status,
      error: 'ERR_ROBOTS_CHALLENGE',
      retryAfterMs: 120_000,
      suspect: 'challenge',
    });
  });

  it('are the only pages that a profile can treat as unreachable', async () => {
    const login = '<html><input type="password">';
    const { origin } = await site({
      '/robots.txt': [
        { headers: HTML, body: login },
        { status: 403, headers: HTML, body: login },
        { status: 403, headers: HTML, body: '<html><title>Request Rejected</title>' },
      ],
    });
    expect(await fetch(origin, { profile: STRICT })).toMatchObject({ kind: 'success', suspect: 'login' });
    expect(await fetch(origin, { profile: STRICT })).toMatchObject({ kind: 'unavailable', suspect: 'login' });
    expect(await fetch(origin, { profile: STRICT })).toMatchObject({
      error: 'ERR_ROBOTS_CHALLENGE',
      suspect: 'blocked',
    });
  });

  it('are found in coded pages', async () => {
    const answers = [
      { coding: 'gzip', body: gzipSync(CHALLENGE) },
      { coding: 'br', body: brotliCompressSync(CHALLENGE) },
    ].map(({ coding, body }) => ({ status: 403, headers: { ...HTML, 'content-encoding': coding }, body }));
    const { origin } = await site({ '/robots.txt': answers });
    expect(await fetch(origin)).toMatchObject({ kind: 'unavailable', suspect: 'challenge' });
    expect(await fetch(origin)).toMatchObject({ kind: 'unavailable', suspect: 'challenge' });
  });

  it('are not looked for in answers of other types', async () => {
    const { origin } = await site({
      '/robots.txt': { status: 403, headers: { 'content-type': 'text/plain' }, body: CHALLENGE },
    });
    expect(await fetch(origin)).not.toHaveProperty('suspect');
  });

  it.each([
    ['that never ends', [{ endless: 'x'.repeat(10_000) }]],
    ['that breaks', ['reset']],
    ['that does not decode', []],
  ] satisfies (readonly [string, Steps])[])(
    'do not change an error whose page is one %s',
    async (what, rest) => {
      const coding = what === 'that does not decode' ? 'content-encoding: gzip\r\n' : '';
      const length = coding === '' ? '' : `content-length: ${CHALLENGE.length}\r\n`;
      const head = `HTTP/1.1 403 Forbidden\r\ncontent-type: text/html\r\n${coding}${length}\r\n`;
      const origin = await staged([head, CHALLENGE, ...rest]);
      expect(await fetch(origin)).toMatchObject({ kind: 'unavailable', status: 403 });
    },
  );

  it('are recognised by the bytes that arrived before the deadline', async () => {
    const closed = new Moment();
    const { origin } = await rawSite((socket) => {
      socket.once('close', closed.now);
      socket.write(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/html\r\n\r\n${CHALLENGE}`);
    });
    expect(await fetch(origin)).toMatchObject({ kind: 'unavailable', suspect: 'challenge' });
    await closed.come;
  });

  it('do not turn an error into a failure at the deadline, unless the profile has to know', async () => {
    const origin = await staged(['HTTP/1.1 403 Forbidden\r\ncontent-type: text/html\r\n\r\n<html>']);
    // Long enough for the status to be there, however busy the machine.
    const [lenient, strict] = await Promise.all([
      fetch(origin, { deadlineMs: 1_000 }),
      fetch(origin, { deadlineMs: 1_000, profile: STRICT }),
    ]);
    expect(lenient).toMatchObject({ kind: 'unavailable', status: 403 });
    expect(strict).toMatchObject({ kind: 'unreachable', status: 403, error: 'ERR_ROBOTS_DEADLINE' });
  });
});
