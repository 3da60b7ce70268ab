import { describe, expect, it } from 'vitest';
import { undiciTransport } from '../../../src/core/fetch/undici-transport.ts';
import { play } from '../../support/play.ts';
import { bodyOf, context, RULES } from './context.ts';

const WHOLE = `HTTP/1.1 200 OK\r\ncontent-length: ${RULES.length}\r\n\r\n${RULES}`;
const missing = (version: string): string => `${version} 404 Not Found\r\ncontent-length: 0\r\n\r\n`;

describe('a status line', () => {
  const { rawSite, fetch } = context(undiciTransport());

  it.each(['HTTP/1.0', 'HTTP/1.1'])('of %s is read', async (version) => {
    const { origin } = await rawSite((socket) => void play(socket, [missing(version)]));
    expect(await fetch(origin)).toMatchObject({ kind: 'unavailable', status: 404 });
  });

  it.each(['HTTP/0.9', 'HTTP/2.0', 'RTSP/1.0', 'ICE/1.0', 'HTTP/3.1'])('of %s is none', async (version) => {
    const { origin } = await rawSite((socket) => void play(socket, [missing(version)]));
    expect(await fetch(origin)).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_MALFORMED' });
  });

  it('is checked for every answer of a connection', async () => {
    let answers = 0;
    const { origin, connections } = await rawSite((socket) => {
      void play(socket, [++answers < 3 ? WHOLE : missing('HTTP/2.0')]);
    });
    expect(bodyOf(await fetch(origin))).toBe(RULES);
    expect(bodyOf(await fetch(origin))).toBe(RULES);
    expect(await fetch(origin)).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_MALFORMED' });
    expect(connections()).toBe(1);
  });

  it('may come in pieces, behind line ends', async () => {
    const { origin } = await rawSite(
      (socket) => void play(socket, [{ slowly: `\r\n\r\n${WHOLE}`, everyMs: 0 }]),
    );
    expect(bodyOf(await fetch(origin))).toBe(RULES);
  });
});
