import { brotliCompressSync, gzipSync } from 'node:zlib';
import { Agent, type Dispatcher, interceptors } from 'undici';
import { afterAll, describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.ts';
import { runs } from '../../support/thorough.ts';
import { startRawSite } from '../../support/site.ts';
import { testClient } from '../../support/client.ts';

const RULES = 'User-agent: *\nDisallow: /x\n';
const retrying = { maxRetries: 1, minTimeout: 1, maxTimeout: 1 };

/** Every interceptor of undici 7, as users compose it. */
const INTERCEPTORS: Readonly<
  Record<keyof typeof interceptors, () => Dispatcher.DispatcherComposeInterceptor>
> = {
  redirect: () => interceptors.redirect({ maxRedirections: 5 }),
  retry: () => interceptors.retry(retrying),
  responseError: () => interceptors.responseError(),
  dump: () => interceptors.dump(),
  dns: () => interceptors.dns(),
  cache: () => interceptors.cache(),
  decompress: () => interceptors.decompress(),
  deduplicate: () => interceptors.deduplicate(),
};

interface Response {
  readonly status: number;
  readonly coding: '' | 'gzip' | 'br';
  /** How the end of the body is known. */
  readonly framing: 'length' | 'chunks';
  /** Bytes of the body that are sent. */
  readonly sent: number;
}

const CODED: Readonly<Record<Response['coding'], Buffer>> = {
  '': Buffer.from(RULES),
  gzip: gzipSync(RULES),
  br: brotliCompressSync(RULES),
};

function bytesOf({ status, coding, framing, sent }: Response): Buffer {
  const body = CODED[coding];
  const part = body.subarray(0, sent);
  const field = coding === '' ? '' : `content-encoding: ${coding}\r\n`;
  const isWhole = sent >= body.length;
  const [framed, content] =
    framing === 'length'
      ? [`content-length: ${body.length}`, part]
      : [
          'transfer-encoding: chunked',
          Buffer.concat([
            ...(part.length === 0
              ? []
              : [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
            Buffer.from(isWhole ? '0\r\n\r\n' : ''),
          ]),
        ];
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${field}${framed}\r\n\r\n`), content]);
}

const response: fc.Arbitrary<Response> = fc.record({
  status: fc.constantFrom(200, 200, 200, 404, 503),
  coding: fc.constantFrom('', 'gzip', 'br'),
  framing: fc.constantFrom('length', 'chunks'),
  sent: fc.oneof(fc.nat(CODED.gzip.length), fc.constant(1_000)),
});

describe.each(Object.entries(INTERCEPTORS))('a body that is cut, under the interceptor %s', (name, make) => {
  const agent = new Agent();
  afterAll(() => agent.destroy());

  it('allows nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(response, { minLength: 1, maxLength: 2 }), async (responses) => {
        let requests = 0;
        const site = await startRawSite((socket) => {
          socket.end(bytesOf(responses[Math.min(requests++, responses.length - 1)]!));
        });
        const { client } = testClient({ dispatcher: agent.compose(make()) });
        const decision = await client.check(site.url('/x/page'));
        await client.close();
        await site.close();
        const last = responses[Math.min(requests, responses.length) - 1]!;
        if (name === 'dump') {
          expect(decision).toMatchObject({ reason: 'unreachable', robots: { error: 'UND_ERR_INVALID_ARG' } });
          return;
        }
        expect(decision.allowed && decision.reason).toBe(decision.robots.status === 404 && 'unavailable');
        // A retry that gets no 206 is a failure.
        const isWhole = requests === 1 && last.status === 200 && last.sent >= CODED[last.coding].length;
        if (isWhole) expect(decision).toMatchObject({ reason: 'rule', allowed: false });
      }),
      { numRuns: runs(15) },
    );
  }, 120_000);
});

it.each([
  ['every byte', 0],
  ['the last byte', RULES.length - 1],
])('an interceptor that drops %s of a body with a Content-Length allows nothing', async (_, kept) => {
  const site = await startRawSite((socket) => {
    socket.end(bytesOf({ status: 200, coding: '', framing: 'length', sent: 1_000 }));
  });
  const agent = new Agent();
  const dropping: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    let left = kept;
    return dispatch(options, {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData(controller, chunk) {
        const rest = chunk.subarray(0, left);
        left -= rest.length;
        handler.onResponseData?.(controller, rest);
      },
      onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
      onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
    });
  };
  const { client } = testClient({ dispatcher: agent.compose(dropping) });
  expect(await client.check(site.url('/x/page'))).toMatchObject({
    allowed: false,
    robots: { status: 200, error: 'ERR_ROBOTS_PARTIAL_CONTENT' },
  });
  await client.close();
  await agent.destroy();
  await site.close();
});
