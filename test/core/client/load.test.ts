import { describe, expect, it } from 'vitest';
import type { RobotsClient, RobotsClientOptions } from '../../../src/index.ts';

import { answer, type Site, startRawSite, startSite } from '../../support/site.ts';
import { opened, openedClient, openedSite } from '../../support/opened.ts';

const client = (options?: RobotsClientOptions): RobotsClient => openedClient(options).robots;
const BODY = 'User-agent: *\nDisallow: /x\n';

describe('under load', () => {
  it('one origin that hangs delays no other', async () => {
    const hanging = opened(await startRawSite(() => {}));
    const sites = await Promise.all(
      Array.from({ length: 40 }, async () => openedSite({ '/robots.txt': { body: BODY } })),
    );
    const robots = client({ concurrency: 2 });
    const hung = robots.canFetch(hanging.url('/x')).catch((error: unknown) => error);
    const answers = await Promise.all(sites.map((site) => robots.canFetch(site.url('/x'))));
    expect(answers).toEqual(sites.map(() => false));
    expect(robots.stats()).toMatchObject({ origins: 40, inFlight: 1 });
    await robots.close();
    expect(await hung).toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
  });

  it('no more than `concurrency` origins are asked at a time, each once', async () => {
    let underWay = 0;
    let most = 0;
    const started = (): Promise<Site> =>
      startSite((_request, response) => {
        most = Math.max(most, ++underWay);
        setImmediate(() => {
          underWay--;
          answer(response, { body: BODY });
        });
      });
    const sites = await Promise.all(Array.from({ length: 30 }, async () => opened(await started())));
    const robots = client({ concurrency: 4 });
    await Promise.all(
      sites.flatMap((site) => [1, 2, 3].map((page) => robots.canFetch(site.url(`/${page}`)))),
    );
    expect(most).toBe(4);
    expect(sites.map(({ requests }) => requests.length)).toEqual(sites.map(() => 1));
  });

  it('memory stays within its bounds, for any number of origins', async () => {
    const maxBytes = 1_048_576;
    const requested = new Set<string>();
    const robots = client({
      cache: { maxOrigins: 200, maxBytes },
      transport: {
        fetch: async (url) => {
          requested.add(url);
          // Some are large: then the bytes are the bound.
          return new Response(requested.size % 10 === 0 ? BODY + '#'.repeat(100_000) : BODY);
        },
      },
    });
    for (let block = 0; block < 4; block++) {
      const hosts = Array.from({ length: 200 }, (_, index) => `https://site${block}-${index}.example`);
      await Promise.all(hosts.map((host) => robots.canFetch(`${host}/x`)));
      const { origins, bytes } = robots.stats();
      expect(origins).toBeLessThanOrEqual(200);
      expect(bytes).toBeLessThanOrEqual(maxBytes);
    }
    expect(requested.size).toBe(800);
    expect(robots.stats()).toMatchObject({ attempts: 800, inFlight: 0 });
  });

  it('a client takes no memory for origins in advance', () => {
    const before = process.memoryUsage().heapUsed;
    const clients = Array.from({ length: 50 }, () => client({ cache: { maxOrigins: 100_000 } }));
    // Space for a hundred thousand origins takes several megabytes.
    expect((process.memoryUsage().heapUsed - before) / clients.length).toBeLessThan(100_000);
  });
});
