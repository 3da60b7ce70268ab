import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { crawlReport, type PacingOptions, type Purpose, refusalIn, RobotsClient } from '../../src/index.ts';
import { testClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { lateClock } from '../support/late-clock.ts';
import { Moment } from '../support/moment.ts';
import { answer, type Handler, type Site, startSite } from '../support/site.ts';

/** A request as every client can make it. */
export interface PageRequest {
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export interface PageAnswer {
  readonly status: number;
  readonly body: string;
}

/** Resolves with the answer after redirects, rejects with whatever the client rejects with. */
export type GetPage = (url: string, request?: PageRequest) => Promise<PageAnswer>;

/** The body of a response, read piece by piece. */
export interface PageStream {
  /** Reads the next piece. Whether there was one. */
  read(): Promise<boolean>;
  discard(): void;
}

/** One client library with its guard on. */
export interface GuardedClient {
  readonly name: string;
  /** Why a single request cannot be aborted, of a client where it cannot. */
  readonly unabortable?: string;
  /** Why a request whose signal was aborted beforehand is sent all the same, by a client that does so unguarded, too. */
  readonly hearsAbortsOnly?: string;
  /** Why the whole body is read before its header fields are checked, by a client that has no other way. */
  readonly readsBodyFirst?: string;
  /** Why the refusal of a redirect names its target only, of a client that does not tell what redirected to it. */
  readonly hidesRedirects?: string;
  /** Whether a permit is held until a document has arrived, as in browsers: tested with them. */
  readonly documentHoldsPermit?: boolean;
  /** Whether a request is in flight until its handler has ended, of a crawler. */
  readonly handlerHoldsPermit?: boolean;
  /** Whether the slot of an aborted request stays empty, because the client tells of an abort only at departure. */
  readonly tellsAbortsLate?: boolean;
  /** Why a request that has to wait too long rejects nothing, of a crawler. */
  readonly waitsInQueue?: string;
  /** Makes the client, one that does not try again by itself; `close` is called when the test is over. */
  make(
    robots: RobotsClient,
    options?: { readonly pacing?: PacingOptions; readonly purpose?: Purpose },
  ): {
    readonly get: GetPage;
    /** {@link get} by a client that tries once more after a reset connection and after a 500. */
    readonly retrying?: GetPage;
    readonly stream?: (url: string) => Promise<PageStream>;
    close?(): Promise<void>;
  };
}

const RULES = 'User-agent: *\nDisallow: /private\nCrawl-delay: 0\n';

/** Answers `/to?<location>` with that redirect, POSTs with what was posted, most of the rest with a page. */
const pages: Handler = (request, response) => {
  const url = request.url ?? '';
  if (url === '/broken') {
    request.socket.destroy();
    return;
  }
  if (url === '/failing' || url === '/busy' || url === '/full') {
    const headers = url === '/busy' ? { 'retry-after': '30' } : {};
    answer(response, { status: url === '/busy' ? 503 : url === '/full' ? 429 : 500, headers });
    return;
  }
  if (url.startsWith('/to?')) {
    answer(response, { status: 302, headers: { location: url.slice('/to?'.length) } });
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = request.method === 'POST' ? `posted: ${Buffer.concat(chunks).toString()}` : 'a page';
    answer(response, { body });
  });
};

/** Where undici and `node:http` tell that the header of an answer has come. */
const HEADER_CHANNELS = ['undici:request:headers', 'http.client.response.finish'];

/** Turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate();
}

/** What every guard owes, whatever it guards. */
export function guardContract(guarded: GuardedClient): void {
  describe(`the contract of guards: ${guarded.name}`, () => {
    const open: (() => Promise<void>)[] = [];
    let robots: RobotsClient;
    let plain: ReturnType<GuardedClient['make']>;
    let get: GetPage;

    beforeEach(() => {
      robots = testClient().client;
      plain = guarded.make(robots);
      get = plain.get;
      open.push(
        () => plain.close?.() ?? Promise.resolve(),
        () => robots.close(),
      );
    });

    afterEach(async () => {
      for (const close of open.splice(0)) await close();
    });

    /** A site; `robotsTxt` answers for `/robots.txt`. */
    async function site(
      robotsTxt: Handler = (_, response) => answer(response, { body: RULES }),
    ): Promise<Site> {
      const started = await startSite((request, response) =>
        request.url === '/robots.txt' ? robotsTxt(request, response) : pages(request, response),
      );
      open.push(() => started.close());
      return started;
    }

    /** What a site was asked, but for its icon: a browser asks for that when it likes. */
    const seenBy = ({ requests }: Site): string[] =>
      requests.map(({ method, url }) => `${method} ${url}`).filter((line) => line !== 'GET /favicon.ico');
    const failure = (pending: Promise<unknown>): Promise<unknown> =>
      pending.then(
        () => expect.fail('expected a refusal'),
        (error: unknown) => error,
      );

    it('allowed: the page comes', async () => {
      const server = await site();
      expect(await get(server.url('/page?a=b'))).toEqual({ status: 200, body: 'a page' });
      expect(seenBy(server)).toEqual(['GET /robots.txt', 'GET /page?a=b']);
    });

    it('disallowed: the error tells why, and the page is not asked for', async () => {
      const server = await site();
      const refused = refusalIn(await failure(get(server.url('/private/x'))));
      expect(refused).toMatchObject({
        code: 'ERR_ROBOTS_DISALLOWED',
        decision: { url: server.url('/private/x'), reason: 'rule', rule: { line: 2 } },
      });
      // Known by now, so decided without waiting.
      expect(refusalIn(await failure(get(server.url('/private/y'))))).toBeDefined();
      expect(seenBy(server)).toEqual(['GET /robots.txt']);
    });

    it('dot segments are removed before a URL is decided and sent, of redirects, too', async () => {
      const server = await site();
      for (const path of ['/.a/../private', '/to?/.a/../private']) {
        expect(refusalIn(await failure(get(server.origin + path)))).toMatchObject({
          code: 'ERR_ROBOTS_DISALLOWED',
          decision: { url: server.url('/private') },
        });
      }
      expect(await get(`${server.origin}/.a/../page?a=/../b`)).toMatchObject({ body: 'a page' });
      expect(await get(`${server.origin}/to?/.a/../page`)).toMatchObject({ body: 'a page' });
      expect(seenBy(server).slice(1)).toEqual([
        'GET /to?/.a/../private',
        'GET /page?a=/../b',
        'GET /to?/.a/../page',
        'GET /page',
      ]);
    });

    it('disallowed after redirects: refused at that hop', async () => {
      const server = await site();
      const refused = refusalIn(await failure(get(server.url('/to?/to?/private'))));
      expect(refused).toMatchObject({
        code: 'ERR_ROBOTS_DISALLOWED',
        decision: { url: server.url('/private') },
      });
      expect(seenBy(server)).toEqual(['GET /robots.txt', 'GET /to?/to?/private', 'GET /to?/private']);
    });

    it('a refusal knows the URL that was asked for, and the redirects in between', async (test) => {
      if (guarded.hidesRedirects !== undefined) test.skip(guarded.hidesRedirects);
      const server = await site();
      const wayTo = async (path: string): Promise<object | undefined> => {
        const refused = refusalIn(await failure(get(server.url(path))));
        return refused && { requested: refused.requested, redirects: refused.redirects };
      };
      expect(await wayTo('/private')).toEqual({ requested: server.url('/private'), redirects: [] });
      for (const _ of ['unknown', 'in memory']) {
        const start = server.url('/to?/to?/to?/private');
        expect(await wayTo('/to?/to?/to?/private')).toEqual({
          requested: start,
          redirects: [server.url('/to?/to?/private'), server.url('/to?/private')],
        });
        expect(refusalIn(await failure(get(start)))?.message).toMatch(
          `${start} leads to ${server.url('/private')} by 3 redirects: robots.txt of `,
        );
      }
    });

    it('a redirect to what is allowed is followed', async () => {
      const server = await site();
      expect(await get(server.url('/to?/page'))).toEqual({ status: 200, body: 'a page' });
      expect(seenBy(server)).toEqual(['GET /robots.txt', 'GET /to?/page', 'GET /page']);
    });

    it('a hop to another origin is held against the robots.txt of that one', async () => {
      const first = await site();
      const second = await site((_, response) =>
        answer(response, { body: 'User-agent: *\nDisallow: /page' }),
      );
      await robots.check(second.origin);
      expect(refusalIn(await failure(get(first.url(`/to?${second.url('/page')}`))))).toMatchObject({
        code: 'ERR_ROBOTS_DISALLOWED',
        decision: { origin: second.origin },
      });
      expect(await get(first.url(`/to?${second.url('/private')}`))).toMatchObject({ body: 'a page' });
      expect(seenBy(second)).toEqual(['GET /robots.txt', 'GET /private']);
    });

    it('a hop to an unknown origin waits for its robots.txt', async () => {
      const first = await site();
      const second = await site();
      expect(await get(first.url(`/to?${second.url('/page')}`))).toMatchObject({ body: 'a page' });
      expect(seenBy(second)).toEqual(['GET /robots.txt', 'GET /page']);
    });

    it('robots unreachable: the error carries the decision and says when to come back', async () => {
      const server = await site((_, response) => answer(response, { status: 503 }));
      const refused = refusalIn(await failure(get(server.url('/page'))));
      expect(refused).toMatchObject({
        code: 'ERR_ROBOTS_UNREACHABLE',
        retryAt: expect.any(Number),
        decision: { reason: 'unreachable', robots: { status: 503 } },
      });
      expect(seenBy(server)).toEqual(['GET /robots.txt']);
    });

    it('robots slow: the page is not asked for before the answer', async () => {
      const asked = new Moment();
      const mayAnswer = new Moment();
      const server = await site((_, response) => {
        asked.now();
        void mayAnswer.come.then(() => answer(response, { body: RULES }));
      });
      const pending = get(server.url('/page'));
      await asked.come;
      expect(seenBy(server)).toEqual(['GET /robots.txt']);
      mayAnswer.now();
      expect(await pending).toMatchObject({ status: 200 });
    });

    const abortable = guarded.unabortable === undefined ? it : it.skip;
    const unless = guarded.unabortable === undefined ? '' : ` (not here: ${guarded.unabortable})`;

    abortable(`abort while deciding: rejects at once, and nothing is sent${unless}`, async () => {
      const asked = new Moment();
      const server = await site(() => asked.now());
      const leaving = new AbortController();
      const pending = failure(get(server.url('/page'), { signal: leaving.signal }));
      await asked.come;
      leaving.abort();
      expect(refusalIn(await pending)).toBeUndefined();
      expect(seenBy(server)).toEqual(['GET /robots.txt']);
    });

    const deaf = guarded.hearsAbortsOnly;
    const preventable = deaf === undefined ? abortable : it.skip;

    preventable(`aborted beforehand: nothing is sent${deaf ? ` (not here: ${deaf})` : unless}`, async () => {
      const server = await site();
      expect(
        refusalIn(await failure(get(server.url('/page'), { signal: AbortSignal.abort() }))),
      ).toBeUndefined();
      expect(seenBy(server).filter((line) => line !== 'GET /robots.txt')).toEqual([]);
    });

    it('concurrent calls about a cold origin make one robots.txt request', async () => {
      const server = await site();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => get(server.url(`/page/${index}`))),
      );
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      expect(seenBy(server).filter((line) => line === 'GET /robots.txt')).toHaveLength(1);
      expect(seenBy(server)).toHaveLength(21);
    });

    it('POST bodies arrive whole, and are not sent where they may not go', async () => {
      const server = await site();
      const post = { method: 'POST', body: 'x'.repeat(100_000) } as const;
      expect((await get(server.url('/page'), post)).body).toBe(`posted: ${post.body}`);
      expect(refusalIn(await failure(get(server.url('/private'), post)))).toMatchObject({
        code: 'ERR_ROBOTS_DISALLOWED',
      });
      expect(seenBy(server)).toEqual(['GET /robots.txt', 'POST /page']);
    });

    it('page answers tell whether the site is reachable', async () => {
      const server = await site();
      const reachable = async (path: string): Promise<boolean | undefined> => {
        await get(server.url(path)).catch(() => undefined);
        return (await robots.policy(server.origin)).site?.reachable;
      };
      expect(await reachable('/private')).toBeUndefined();
      expect(await reachable('/page')).toBe(true);
      expect(await reachable('/failing')).toBe(false);
      expect(await reachable('/to?/page')).toBe(true);
      expect(await reachable('/broken')).toBe(false);
      expect(await reachable('/page')).toBe(true);
      expect(seenBy(server).filter((line) => line === 'GET /robots.txt')).toHaveLength(1);
    });

    it('a report counts what the site saw: redirects, further attempts, and streams', async () => {
      const server = await site();
      using report = crawlReport(robots, { onFirstRefused: false });
      for (const path of ['/private', '/page', '/to?/page', '/to?/private'])
        await get(server.url(path)).catch(() => undefined);
      // Chromium repeats a request that a reset ended, and shows one.
      for (const path of guarded.documentHoldsPermit === true ? ['/failing'] : ['/broken', '/failing'])
        await (plain.retrying ?? get)(server.url(path)).catch(() => undefined);
      const stream = await plain.stream?.(server.url('/page'));
      while ((await stream?.read()) === true);
      const seen = seenBy(server);
      const times = (path: string): number => seen.filter((line) => line === `GET ${path}`).length;
      await eventually(() =>
        expect(report.totals()).toMatchObject({
          sent: seen.length - 1,
          failed: times('/broken'),
          statuses: { 200: times('/page'), 302: 2, 500: times('/failing') },
          refused: 2,
        }),
      );
    });

    describe('with pacing', () => {
      const clock = lateClock();
      let client: RobotsClient;
      let paced: GetPage;
      let made: ReturnType<GuardedClient['make']>;

      const rejects = guarded.waitsInQueue === undefined ? it : it.skip;
      const unlessQueued = guarded.waitsInQueue === undefined ? '' : ` (not here: ${guarded.waitsInQueue})`;

      beforeEach(() => {
        client = new RobotsClient({ agent: 'ExampleBot', clock, random: () => 0 });
        made = guarded.make(client, { pacing: { defaultDelayMs: 20_000, maxDelayMs: 110_000 } });
        paced = made.get;
        open.push(
          () => made.close?.() ?? Promise.resolve(),
          () => client.close(),
        );
      });

      /** `count` requests have joined the line, where one timer is for all of them. A browser takes its time for each. */
      const allWaiting = async (count: number): Promise<void> => {
        await eventually(() => {
          const { hits, misses } = client.stats();
          expect(hits + misses).toBeGreaterThanOrEqual(count);
        });
        await clock.whenWaiting();
        await turns(10);
      };

      const pagesOf = (server: Site): string[] => seenBy(server).filter((line) => line !== 'GET /robots.txt');
      const slow: Handler = (_, response) =>
        answer(response, { body: 'User-agent: *\nCrawl-delay: 20\nDisallow: /private\n' });

      it('concurrent requests wait for their own slots, after the slot of robots.txt', async () => {
        const server = await site(slow);
        // Which of them comes first is up to the client.
        const left = new Map([1, 2, 3].map((page) => [page, paced(server.url(`/page/${page}`))]));
        await clock.whenWaiting();
        for (const before of [0, 1, 2]) {
          expect(pagesOf(server)).toHaveLength(before);
          await clock.advance(20_000);
          const [page, answered] = await Promise.race(
            Array.from(left, async ([key, pending]) => [key, await pending] as const),
          );
          expect(answered).toMatchObject({ status: 200 });
          left.delete(page);
        }
        expect(pagesOf(server).sort()).toEqual(['GET /page/1', 'GET /page/2', 'GET /page/3']);
      });

      it('a process that wakes up late sends one request, and the others the delay apart', async () => {
        const server = await site(slow);
        const left = new Map([1, 2, 3].map((page) => [page, paced(server.url(`/page/${page}`))]));
        const nextAnswer = async (): Promise<void> => {
          const [page] = await Promise.race(
            Array.from(left, async ([key, pending]) => [key, await pending] as const),
          );
          left.delete(page);
        };
        await allWaiting(3);
        await clock.jump(50_000);
        await nextAnswer();
        // Its slot and the next have passed.
        expect(pagesOf(server)).toHaveLength(1);
        for (const sent of [2, 3]) {
          await clock.whenWaiting();
          await clock.advance(20_000);
          await nextAnswer();
          expect(pagesOf(server)).toHaveLength(sent);
        }
      });

      rejects(
        `over the ceiling a request is deferred: not sent, and told when to come again${unlessQueued}`,
        async () => {
          const server = await site((_, response) =>
            answer(response, { body: 'User-agent: *\nCrawl-delay: 120\n' }),
          );
          // The first page waits for `defaultDelayMs` alone.
          const first = paced(server.url('/page'));
          await clock.whenWaiting();
          await clock.advance(20_000);
          await first;
          for (const waitMs of [120_000, 241_200]) {
            const deferred = refusalIn(await failure(paced(server.url('/page'))));
            const retryAt = clock.now() + waitMs;
            expect(deferred).toMatchObject({
              code: 'ERR_ROBOTS_DEFERRED',
              retryAt,
              delayFrom: 'crawl-delay',
            });
          }
          expect(pagesOf(server)).toHaveLength(1);
        },
      );

      it('a disallowed request takes no slot', async () => {
        const server = await site(slow);
        await failure(paced(server.url('/private')));
        const page = paced(server.url('/page'));
        await clock.whenWaiting();
        await clock.advance(20_000);
        expect(await page).toMatchObject({ status: 200 });
      });

      it('one request to the origin is under way at a time; answers and errors let the next one go', async () => {
        const paths = ['/page/1', '/broken', '/page/2', '/failing', '/page/3'];
        let underWay = 0;
        let most = 0;
        const server = await startSite((request, response) => {
          if (request.url === '/robots.txt') return answer(response, { body: RULES });
          // Not what browsers load besides.
          if (!paths.includes(request.url ?? '')) return pages(request, response);
          most = Math.max(most, ++underWay);
          // Long enough for another request to arrive.
          void turns(20).then(() => {
            underWay--;
            pages(request, response);
          });
        });
        open.push(() => server.close());
        const all = paths.map((path) => paced(server.url(path)).catch(() => undefined));
        await Promise.all(all);
        expect([most, underWay]).toEqual([1, 0]);
        expect(pagesOf(server)).toEqual(expect.arrayContaining(paths.map((path) => `GET ${path}`)));
      });

      abortable(`an aborted request that waits leaves the line to the others${unless}`, async () => {
        const server = await site(slow);
        const leaving = new AbortController();
        const left = failure(paced(server.url('/page/1'), { signal: leaving.signal }));
        await allWaiting(1);
        const next = paced(server.url('/page/2'));
        await allWaiting(2);
        leaving.abort();
        await left;
        await clock.whenWaiting();
        // In the place of the first one.
        await clock.advance(20_000);
        if (guarded.tellsAbortsLate === true) {
          await clock.whenWaiting();
          await clock.advance(20_000);
        }
        expect(await next).toMatchObject({ status: 200 });
        expect(pagesOf(server)).toEqual(['GET /page/2']);
      });

      abortable(`an aborted request under way lets the next one go${unless}`, async () => {
        const arrived = new Moment();
        const server = await startSite((request, response) => {
          if (request.url === '/robots.txt') return answer(response, { body: RULES });
          // Never answered.
          if (request.url === '/page/1') return arrived.now();
          return pages(request, response);
        });
        open.push(() => server.close());
        const leaving = new AbortController();
        const left = failure(paced(server.url('/page/1'), { signal: leaving.signal }));
        await arrived.come;
        const next = paced(server.url('/page/2'));
        await allWaiting(2);
        expect(seenBy(server)).not.toContain('GET /page/2');
        leaving.abort();
        await left;
        expect(await next).toMatchObject({ status: 200 });
      });

      const holdsItself = guarded.handlerHoldsPermit === true || guarded.documentHoldsPermit === true;

      // A library that reads the body by itself goes on reading it.
      (holdsItself || guarded.readsBodyFirst !== undefined ? it.skip : it)(
        'a body of which nothing more comes holds its permit for 30 s',
        async () => {
          const headerCame = new Moment();
          const note = (message: unknown): void => {
            const { request } = message as { readonly request: { readonly path: string } };
            if (request.path === '/endless') headerCame.now();
          };
          for (const name of HEADER_CHANNELS) subscribe(name, note);
          const server = await startSite((request, response) => {
            if (request.url === '/robots.txt') return answer(response, { body: RULES });
            if (request.url !== '/endless') return pages(request, response);
            response.writeHead(200, { 'content-type': 'text/html' });
            response.write('the first bytes');
          });
          open.push(
            () => server.close(),
            async () => HEADER_CHANNELS.forEach((name) => unsubscribe(name, note)),
          );
          paced(server.url('/endless')).catch(() => undefined);
          await eventually(() => expect(pagesOf(server)).toEqual(['GET /endless']));
          await headerCame.come;
          // The first bytes are read.
          await turns(20);
          const next = paced(server.url('/page'));
          await allWaiting(2);
          await clock.advance(29_999);
          expect(pagesOf(server)).toEqual(['GET /endless']);
          await clock.advance(1);
          expect(await next).toMatchObject({ status: 200 });
        },
      );

      describe('and retries', () => {
        it.each([
          ['was reset', (request: IncomingMessage) => void request.socket.destroy()],
          [
            'got a 500',
            (_: unknown, response: ServerResponse) => answer(response, { status: 500, body: 'no' }),
          ],
          [
            'got half a 500',
            (_: unknown, response: ServerResponse) => {
              response.writeHead(500, { 'content-length': '100' });
              response.write('half');
              setTimeout(() => response.socket?.destroy(), 5);
            },
          ],
        ] satisfies [string, Handler][])(
          'an attempt that %s frees its permit when it fails',
          async (what, fail) => {
            const { retrying } = made;
            if (retrying === undefined) return;
            let attempts = 0;
            let [inFlight, most] = [0, 0];
            const server = await startSite((request, response) => {
              if (request.url === '/robots.txt') return answer(response, { body: RULES });
              most = Math.max(most, ++inFlight);
              response.on('close', () => inFlight--);
              if (request.url === '/flaky' && ++attempts === 1) return fail(request, response);
              // Long enough for another request to arrive.
              void turns(20).then(() => pages(request, response));
            });
            open.push(() => server.close());
            const flaky = retrying(server.url('/flaky')).then(
              () => 2,
              () => 1,
            );
            const others = ['/page/1', '/page/2'].map((path) => retrying(server.url(path)));
            for (const { body } of await Promise.all(others)) expect(body).toBe('a page');
            expect(await flaky).toBe(attempts);
            if (!what.includes('half')) expect(attempts).toBe(2);
            expect(most).toBe(1);
          },
        );
      });

      describe('and streams', () => {
        /** A site whose `/stream` sends what the test writes. */
        async function streaming(): Promise<{ server: Site; write(text: string): void; end(): void }> {
          let response: ServerResponse | undefined;
          const server = await startSite((request, incoming) => {
            if (request.url === '/robots.txt') return answer(incoming, { body: RULES });
            if (request.url !== '/stream') return pages(request, incoming);
            response = incoming;
            incoming.writeHead(200, { 'content-type': 'text/html' });
            incoming.write('one');
          });
          open.push(() => server.close());
          return {
            server,
            write: (text) => void response?.write(text),
            end: () => void response?.end(),
          };
        }

        it('a body that is read holds its permit until its end', async () => {
          if (made.stream === undefined) return;
          const { server, write, end } = await streaming();
          const body = await made.stream(server.url('/stream'));
          expect(await body.read()).toBe(true);
          const next = paced(server.url('/page'));
          await allWaiting(2);
          for (let piece = 0; piece < 3; piece++) {
            await clock.advance(20_000);
            write('more');
            expect(await body.read()).toBe(true);
            await turns(5);
          }
          expect(pagesOf(server)).toEqual(['GET /stream']);
          end();
          expect(await body.read()).toBe(false);
          expect(await next).toMatchObject({ status: 200 });
        });

        it('a body that was discarded frees its permit', async () => {
          if (made.stream === undefined) return;
          const { server } = await streaming();
          const body = await made.stream(server.url('/stream'));
          const next = paced(server.url('/page'));
          await allWaiting(2);
          expect(pagesOf(server)).toEqual(['GET /stream']);
          body.discard();
          expect(await next).toMatchObject({ status: 200 });
        });

        it('an unread body frees its permit after 30 s', async () => {
          if (made.stream === undefined) return;
          const { server } = await streaming();
          const body = await made.stream(server.url('/stream'));
          await turns(20);
          const next = paced(server.url('/page'));
          await allWaiting(2);
          await clock.advance(29_999);
          expect(pagesOf(server)).toEqual(['GET /stream']);
          await clock.advance(1);
          expect(await next).toMatchObject({ status: 200 });
          body.discard();
        });
      });

      rejects(`a 429 that names no time pauses the origin${unlessQueued}`, async () => {
        const server = await site();
        await paced(server.url('/full')).catch(() => undefined);
        const next = paced(server.url('/page'));
        await clock.whenWaiting();
        await clock.advance(26_999);
        expect(pagesOf(server)).toEqual(['GET /full']);
        // The random number is 0: 10 % less than 30 s.
        await clock.advance(1);
        expect(await next).toMatchObject({ status: 200 });
      });

      rejects(`\`Retry-After\` of a page holds the next one back${unlessQueued}`, async () => {
        const server = await site();
        await paced(server.url('/busy')).catch(() => undefined);
        const next = paced(server.url('/page'));
        await clock.whenWaiting();
        expect(pagesOf(server)).toEqual(['GET /busy']);
        await clock.advance(30_000);
        expect(await next).toMatchObject({ status: 200 });
      });
    });

    describe('with a purpose', () => {
      const preferences: Handler = (_, response) =>
        answer(response, { body: 'User-agent: *\nAllow: /\nContent-Usage: /page/no train-ai=n\n' });
      let training: GetPage;

      beforeEach(() => {
        const made = guarded.make(robots, { purpose: 'train-ai' });
        training = made.get;
        if (made.close !== undefined) open.unshift(made.close);
      });

      /** A site whose pages under `/signal` say in the header that they are not for training, at some hop. */
      async function signalling(page: Handler): Promise<Site> {
        const started = await startSite((request, response) => {
          if (request.url === '/robots.txt') preferences(request, response);
          else if (request.url?.startsWith('/signal') === true) page(request, response);
          else pages(request, response);
        });
        open.push(() => started.close());
        return started;
      }
      const SIGNAL = { 'content-type': 'text/html', 'content-signal': ['search=yes', 'ai-train=no'] };

      it('refused by robots.txt before the request, at the first hop or a later one', async () => {
        const server = await site(preferences);
        expect(refusalIn(await failure(training(server.url('/page/no'))))).toMatchObject({
          code: 'ERR_ROBOTS_USAGE',
          decision: { url: server.url('/page/no'), allowed: true },
          usage: { purpose: 'train-ai', source: { line: 3 } },
        });
        expect(seenBy(server)).toEqual(['GET /robots.txt']);
        expect(refusalIn(await failure(training(server.url('/to?/page/no'))))).toMatchObject({
          code: 'ERR_ROBOTS_USAGE',
        });
        expect(seenBy(server)).toEqual(['GET /robots.txt', 'GET /to?/page/no']);
        expect(await training(server.url('/page/yes'))).toEqual({ status: 200, body: 'a page' });
        expect(await get(server.url('/page/no'))).toEqual({ status: 200, body: 'a page' });
      });

      it('refused by a header field of the response, on any of its lines', async () => {
        const server = await signalling((_, response) =>
          answer(response, { headers: SIGNAL, body: 'a page' }),
        );
        using report = crawlReport(robots);
        expect(refusalIn(await failure(training(server.url('/to?/signal'))))).toMatchObject({
          code: 'ERR_ROBOTS_USAGE',
          decision: { url: server.url('/signal'), allowed: true },
          usage: { preference: 'disallow', source: { directive: 'content-signal' } },
        });
        expect(seenBy(server)).toEqual(['GET /robots.txt', 'GET /to?/signal', 'GET /signal']);
        expect(report.totals()).toMatchObject({ sent: 2, refused: 1, refusedByHeader: 1 });
        expect(await get(server.url('/signal'))).toEqual({ status: 200, body: 'a page' });
      });

      it('refused before its body is read: the connection of an endless one is closed', async (test) => {
        if (guarded.readsBodyFirst !== undefined) test.skip(guarded.readsBodyFirst);
        const closed = new Moment();
        const server = await signalling((_, response) => {
          response.on('close', closed.now);
          response.writeHead(200, SIGNAL);
          response.write('the first bytes');
        });
        const refused = failure(training(server.url('/signal')));
        expect(refusalIn(await refused)).toMatchObject({ code: 'ERR_ROBOTS_USAGE' });
        await closed.come;
      });
    });

    it('the client may be closed: what is refused then is refused as closed', async () => {
      const server = await site();
      await robots.close();
      const error = await failure(get(server.url('/page')));
      expect(error).toBeInstanceOf(Error);
      expect(seenBy(server)).toEqual([]);
    });
  });
}
