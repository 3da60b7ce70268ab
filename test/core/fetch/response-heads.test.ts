import { describe, expect, it } from 'vitest';
import { undiciTransport } from '../../../src/core/fetch/undici-transport.ts';
import { runSteps } from '../../support/socket-steps.ts';
import { bodyOf, context, RULES } from './context.ts';

const WHOLE = `HTTP/1.1 200 OK\r\ncontent-length: ${RULES.length}\r\n\r\n${RULES}`;
const missing = (version: string): string => `${version} 404 Not Found\r\ncontent-length: 0\r\n\r\n`;

describe('a status line', () => {
  const { rawSite, fetch } = context(undiciTransport());

  it.each(['HTTP/1.0', 'HTTP/1.1'])('of %s is read', async (version) => {
    const { origin } = await rawSite((socket) => void runSteps(socket, [missing(version)]));
    expect(await fetch(origin)).toMatchObject({ kind: 'unavailable', status: 404 });
  });

  it.each(['HTTP/0.9', 'HTTP/2.0', 'RTSP/1.0', 'ICE/1.0', 'HTTP/3.1'])('of %s is none', async (version) => {
    const { origin } = await rawSite((socket) => void runSteps(socket, [missing(version)]));
    expect(await fetch(origin)).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_MALFORMED' });
  });

  it('is checked for every answer of a connection', async () => {
    let answers = 0;
    const { origin, connections } = await rawSite((socket) => {
      void runSteps(socket, [++answers < 3 ? WHOLE : missing('HTTP/2.0')]);
    });
    expect(bodyOf(await fetch(origin))).toBe(RULES);
    expect(bodyOf(await fetch(origin))).toBe(RULES);
    expect(await fetch(origin)).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_MALFORMED' });
    expect(connections()).toBe(1);
  });

  it('is checked after every interim response', async () => {
    const interim = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
    const { origin } = await rawSite(
      (socket) => void runSteps(socket, [{ slowly: interim + interim + missing('HTTP/2.0'), everyMs: 0 }]),
    );
    expect(await fetch(origin)).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_MALFORMED' });
  });

  it.each(['\r', '\r\r\n', '\r\n\r', '\n\r\r'])('after %j, a lone CR, is invalid', async (start) => {
    const { origin } = await rawSite((socket) => void runSteps(socket, [start + missing('HTTP/1.1')]));
    expect(await fetch(origin)).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_MALFORMED' });
  });

  it('may come in pieces, after line ends', async () => {
    const { origin } = await rawSite(
      (socket) => void runSteps(socket, [{ slowly: `\r\n\r\n${WHOLE}`, everyMs: 0 }]),
    );
    expect(bodyOf(await fetch(origin))).toBe(RULES);
  });
});

describe('RFC 9110 §15.2.1: an unsolicited 100', () => {
  const { rawSite, fetch } = context(undiciTransport());

  it.each([0, 1, 2, 32])('is passed over, %d times', async (times) => {
    const interim = 'HTTP/1.1 100 Continue\r\nx-a: b\r\n\r\n'.repeat(times);
    const { origin, requests } = await rawSite(
      (socket) =>
        void runSteps(socket, times > 1 ? [interim, WHOLE] : [{ slowly: interim + WHOLE, everyMs: 0 }]),
    );
    expect(bodyOf(await fetch(origin))).toBe(RULES);
    expect(requests.length).toBe(1);
  });

  it('counts among the interim responses, which are bounded', async () => {
    const { origin } = await rawSite(
      (socket) => void runSteps(socket, ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(33) + WHOLE]),
    );
    expect(await fetch(origin)).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_MALFORMED' });
  });

  it('is no 1000', async () => {
    const { origin } = await rawSite((socket) => void runSteps(socket, [WHOLE.replace('200', '1000')]));
    expect(await fetch(origin)).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_MALFORMED' });
  });
});

describe('RFC 9110 §5.5: white space around the value of a framing field', () => {
  const { rawSite, fetch } = context(undiciTransport());

  it.each([' ', '\t', '\t \t'])(
    'is not part of it, first or after others, whole or byte by byte: %j',
    async (space) => {
      for (const others of ['', 'date: x\r\nContent-Type: text/plain\r\nc: d\r\n']) {
        const response = WHOLE.replace(/content-length: (\d+)/, `${others}Content-LENGTH:${space}$1${space}`);
        for (const sent of [response, { slowly: response, everyMs: 0 }]) {
          const { origin } = await rawSite((socket) => void runSteps(socket, [sent]));
          expect(bodyOf(await fetch(origin))).toBe(RULES);
        }
      }
    },
  );

  it('is left as it is in other fields', async () => {
    const fields = `x-content-length: 1\r\netag: "a\tb"\r\ncontent-length: ${RULES.length}`;
    const { origin } = await rawSite(
      (socket) => void runSteps(socket, [`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${RULES}`]),
    );
    expect(await fetch(origin)).toMatchObject({ kind: 'success', headers: { etag: '"a\tb"' } });
  });

  it('does not join numbers', async () => {
    const { origin } = await rawSite(
      (socket) => void runSteps(socket, [WHOLE.replace(/content-length: 2/, 'content-length: 2\t')]),
    );
    expect((await fetch(origin)).kind).toBe('unreachable');
  });
});
