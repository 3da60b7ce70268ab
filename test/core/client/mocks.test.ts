import nodeHttp from 'node:http';
import { createRequire } from 'node:module';
import { describe, expect, it, vi } from 'vitest';
import { gzipSync } from 'node:zlib';
import axios from 'axios';
import got from 'got';
import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import type Nock from 'nock';
import { Agent, MockAgent, setGlobalDispatcher } from 'undici';
import { guardFetch, RobotsUnreachableError, type RobotsClientOptions } from '../../../src/index.ts';
import { axiosTransport } from '../../../src/guards/axios/axios.ts';
import { gotTransport } from '../../../src/guards/got/got.ts';
import { refusalFor } from '../../../src/core/client/refusal-errors.ts';
import { testClient } from '../../support/client.ts';
import { openedClient } from '../../support/opened.ts';
import { otherMajor } from '../../support/other-major.ts';

const ROBOTS = 'https://example.test/robots.txt';
const RULES = 'User-agent: *\nDisallow: /private\n';
/** Asks no name server in earnest. */
const lookup: RobotsClientOptions['lookup'] = (hostname, _options, callback) =>
  callback(Object.assign(new Error('not found'), { code: 'ENOTFOUND', hostname }), '', 0);

const client = (options: RobotsClientOptions) => openedClient(options).robots;

/** The message of the refusal of a page whose robots.txt could not be looked up. */
async function refusalOver(options: RobotsClientOptions): Promise<string> {
  const decision = await client(options).check('https://other.test/page');
  const refusal = refusalFor(decision);
  expect(refusal).toBeInstanceOf(RobotsUnreachableError);
  return refusal.message;
}

type LoadNock = () => Promise<typeof Nock | undefined>;
type Msw = Pick<typeof import('msw'), 'http' | 'HttpResponse'> &
  Pick<typeof import('msw/node'), 'setupServer'>;
const nocks: [version: string, load: LoadNock][] = [
  // Imported only where it is active: to import it is to activate it.
  ['14', async () => createRequire(import.meta.url)('nock')],
  ['15', async () => (await otherMajor<{ default: typeof Nock }>('nock-15'))?.default],
];

async function withNock(
  use: (nock: typeof Nock) => Promise<void>,
  load: LoadNock = nocks[0]![1],
  skip?: (why: string) => never,
): Promise<void> {
  const nock = await load();
  if (nock === undefined) return skip?.('needs another major version');
  if (!nock.isActive()) nock.activate();
  nock.disableNetConnect();
  try {
    await use(nock);
  } finally {
    nock.cleanAll();
    nock.enableNetConnect();
    nock.restore();
  }
}

describe("transport: 'fetch'", () => {
  it.for(nocks)(
    'is answered by nock %s, which replaces the global fetch later',
    async ([, load], { skip }) => {
      const robots = client({ transport: 'fetch' });
      await withNock(
        async (nock) => {
          const scope = nock('https://example.test').get('/robots.txt').reply(200, RULES);
          expect(await robots.check('https://example.test/private')).toMatchObject({ reason: 'rule' });
          expect(scope.isDone()).toBe(true);
          expect(await robots.check('https://other.test/')).toMatchObject({
            robots: { error: 'ENETUNREACH' },
          });
        },
        load,
        skip,
      );
    },
  );

  it.for<[string, () => Promise<Msw | undefined>]>([
    ['2', async () => ({ http, HttpResponse, setupServer })],
    [
      '3',
      async () => {
        const library = await otherMajor<typeof import('msw')>('msw-3');
        return (
          library && { ...library, ...(await otherMajor<typeof import('msw/node')>('msw-3', './node'))! }
        );
      },
    ],
  ])('is answered by msw %s', async ([, load], { skip }) => {
    const library = (await load()) ?? skip('needs another major version');
    const { http, HttpResponse, setupServer } = library;
    const robots = client({ transport: 'fetch' });
    let requests = 0;
    const server = setupServer(
      http.get(ROBOTS, () => {
        requests++;
        return HttpResponse.text(RULES);
      }),
    );
    server.listen({ onUnhandledRequest: 'error' });
    try {
      const guarded = guardFetch(fetch, robots);
      await expect(guarded('https://example.test/private')).rejects.toMatchObject({
        code: 'ERR_ROBOTS_DISALLOWED',
      });
      expect(await robots.canFetch('https://example.test/page')).toBe(true);
      expect(requests).toBe(1);
    } finally {
      server.close();
    }
  });

  it('is answered by a stub of the global fetch, with a Response or a plain object', async () => {
    const responses = [
      new Response(RULES),
      { ok: true, status: 200, text: async () => RULES, headers: new Map([['etag', '"1"']]) },
    ];
    for (const response of responses) {
      const stub = vi.fn(async () => response);
      vi.stubGlobal('fetch', stub);
      try {
        const robots = client({ transport: 'fetch' });
        expect(await robots.canFetch('https://example.test/private')).toBe(false);
        expect(stub).toHaveBeenCalledExactlyOnceWith(ROBOTS, expect.objectContaining({ redirect: 'manual' }));
      } finally {
        vi.unstubAllGlobals();
      }
    }
  });

  it('is the only string', () => {
    const options: RobotsClientOptions = JSON.parse('{"transport":"undici"}');
    expect(() => testClient(options)).toThrow(/`transport` to be 'fetch', an object with a `fetch`, or what/);
  });
});

it.for(nocks)(
  'an instance of got or axios is answered by nock %s, and goes nowhere else',
  ([, load], { skip }) =>
    withNock(
      async (nock) => {
        for (const transport of [gotTransport(got), axiosTransport(axios)]) {
          nock('https://example.test')
            .get('/robots.txt')
            .reply(301, '', { location: 'http://example.test/other' });
          const gzip = { 'content-encoding': 'gzip' };
          nock('http://example.test').get('/other').reply(200, gzipSync(RULES), gzip);
          const robots = client({ transport });
          expect(await robots.check('https://example.test/private')).toMatchObject({ reason: 'rule' });
          expect(await robots.check('https://other.test/')).toMatchObject({
            robots: { error: 'ENETUNREACH' },
          });
        }
      },
      load,
      skip,
    ),
);

it("undici's MockAgent answers as `dispatcher`, and as the global dispatcher", async () => {
  const mock = new MockAgent();
  mock.disableNetConnect();
  mock.get('https://example.test').intercept({ path: '/robots.txt' }).reply(200, RULES).times(2);
  expect(await client({ dispatcher: mock }).canFetch('https://example.test/private')).toBe(false);
  setGlobalDispatcher(mock);
  try {
    expect(await client({}).canFetch('https://example.test/private')).toBe(false);
  } finally {
    setGlobalDispatcher(new Agent());
  }
  mock.assertNoPendingInterceptors();
  await mock.close();
});

describe('a refusal after a DNS error, while a mock is active', () => {
  it('names nock', () =>
    withNock(async () => {
      const text = await refusalOver({ lookup });
      expect(text).toContain("nock is active: make the client with `transport: 'fetch'`");
      expect(text).toContain('https://other.test/robots.txt');
      expect(await refusalOver({ transport: 'fetch' })).toContain('nock is active');
    }));

  it('names nock 13, which sees no fetch, and what it sees', async () => {
    // As nock 13 replaces it.
    const OverriddenClientRequest = (): void => undefined;
    vi.spyOn(nodeHttp, 'ClientRequest', 'get').mockReturnValue(OverriddenClientRequest as never);
    try {
      const text = await refusalOver({ lookup });
      expect(text).toContain(
        'nock 13 is active: make the client with `transport: gotTransport(got)` or `axiosTransport(axios)`',
      );
      expect(text).toContain('https://other.test/robots.txt');
    } finally {
      vi.restoreAllMocks();
    }
  });

  it('names msw', async () => {
    const server = setupServer();
    server.listen();
    try {
      expect(await refusalOver({ lookup })).toContain('msw is active');
    } finally {
      server.close();
    }
  });

  it('names nothing without one, or for a response of the site', async () => {
    expect(await refusalOver({ lookup })).not.toContain('is active');
    await withNock(async (nock) => {
      nock('https://other.test').get('/robots.txt').reply(503);
      expect(await refusalOver({ transport: 'fetch' })).not.toContain('is active');
    });
  });
});

describe('a response of `fetch` that is none', () => {
  const page = 'https://example.test/private';
  const headers = new Map<string, string>();
  const noText = async (): Promise<string> => '';
  const asked = async (response: unknown): Promise<unknown> => {
    const fetch = async (): Promise<never> => response as never;
    return client({ transport: { fetch } }).check(page);
  };

  it.each([
    [{ ok: true, text: noText, headers }, '`status`, a number'],
    [{ status: 200, text: noText, headers: {} }, '`headers`, with `get(name)`'],
    [{ status: 200, headers, body: 'text' }, '`body`, a stream, or `text()`'],
    [undefined, '`status`, a number and without `headers`'],
  ])('rejects the question, and says what is missing: %j', async (response, missing) => {
    const error = expect(asked(response)).rejects;
    await error.toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      message: expect.stringContaining(missing),
    });
  });
});
