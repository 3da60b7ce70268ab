import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { platform } from '#platform';
import { startRawSite } from '../../support/site.ts';
import { Wire } from './wire.ts';

/** In one piece, as the process of the test takes it. */
const piecesOf = (text: string): string[] => [Buffer.from(text, 'latin1').toString('base64')];

describe('a response with more content codings than undici takes', () => {
  const codings: readonly (readonly [name: string, fields: string])[] = [
    ['six items', 'content-encoding: gzip, gzip, gzip, gzip, gzip, gzip\r\n'],
    ['six lines', 'Content-Encoding: gzip\r\n'.repeat(6)],
    ['empty items', 'content-encoding: x,,,,,,\r\n'],
  ];

  it('does not end the process of a `fetch`, guarded or not, and its status counts', async () => {
    const wire = new Wire();
    for (const [name, fields] of codings) {
      for (const [status, expected] of [
        [200, { state: 'disallow-all', status: 200, error: 'ERR_ROBOTS_CONTENT_CODING' }],
        [404, { state: 'allow-all', status: 404 }],
      ] as const) {
        const text = `HTTP/1.1 ${status} Status\r\n${fields}content-length: 99\r\n\r\nabc`;
        const asked = { transport: 'fetch', pieces: piecesOf(text) } as const;
        expect(await wire.ask(asked), name).toMatchObject(expected);
      }
      const text = `HTTP/1.1 200 OK\r\n${fields}content-length: 99\r\n\r\nabc`;
      const page = await wire.ask({ transport: 'guardFetch', pieces: piecesOf(text) });
      expect(page, name).toEqual({ state: 'page', allowed: true, status: 200 });
    }
    await wire.close();
  });

  it('is left as it is below that, and for other requests than those of a `fetch`', async () => {
    platform.undici?.surviveManyCodings();
    for (const [fields, encoding] of [
      ['content-encoding: gzip,x\r\ncontent-encoding: y\r\n', ['gzip,x', 'y']],
      ['content-encoding: a,b,c,d,e,f\r\n', 'a,b,c,d,e,f'],
    ] as const) {
      const site = await startRawSite((socket) => socket.end(`HTTP/1.1 404 No\r\n${fields}\r\n`));
      const { headers, body } = await request(site.url('/'));
      await body.dump();
      expect(headers['content-encoding']).toEqual(encoding);
      await site.close();
    }
  });
});
