import axios from 'axios';
import got from 'got';
import nodeFetch from 'node-fetch';
import { Agent, fetch as undiciFetch, request } from 'undici';
import { guardAxios } from '../../src/guards/axios/axios.ts';
import { gotHooks } from '../../src/guards/got/got.ts';
import type { ThrowingGuardOptions } from '../../src/guards/shared/options.ts';
import { robotsInterceptor } from '../../src/guards/undici/undici.ts';
import { guardFetch, RobotsClient } from '../../src/index.ts';
import { opened } from '../support/opened.ts';

export const AGENT = 'ExampleBot/1.0 (+https://example.com/bot)';

/** A client that is closed after the test. */
export const namedClient = (): RobotsClient => opened(new RobotsClient({ agent: AGENT }));

/** Resolves with the text of a page. */
type GetText = (url: string, init?: { readonly headers: Record<string, string> }) => Promise<string>;

/** A dispatcher of undici with a guard, which is destroyed after the test. */
export function guardedAgent(options: ThrowingGuardOptions, robots = namedClient()): Agent {
  const inner = new Agent();
  opened({ [Symbol.asyncDispose]: () => inner.destroy() });
  return inner.compose(robotsInterceptor(robots, options)) as Agent;
}

const byFetch =
  (guarded: typeof fetch): GetText =>
  async (url, init) =>
    (await (init === undefined ? guarded(url) : guarded(url, init))).text();

/** How each library gets a page, guarded, and reads it. */
export const libraries: readonly [
  name: string,
  make: (options: ThrowingGuardOptions, robots?: RobotsClient) => GetText,
][] = [
  ['guardFetch', (options, robots = namedClient()) => byFetch(guardFetch(fetch, robots, options))],
  [
    'guardFetch around node-fetch',
    (options) => byFetch(guardFetch(nodeFetch as never, namedClient(), options)),
  ],
  [
    'robotsInterceptor under request',
    (options, robots) => {
      const dispatcher = guardedAgent(options, robots);
      return async (url, init) => (await request(url, { ...init, dispatcher })).body.text();
    },
  ],
  [
    'robotsInterceptor under fetch',
    (options) => {
      const dispatcher = guardedAgent(options);
      return byFetch(((url: string, init: object) => undiciFetch(url, { ...init, dispatcher })) as never);
    },
  ],
  [
    'gotHooks',
    (options, robots = namedClient()) => {
      const guarded = got.extend(gotHooks(robots, options), { retry: { limit: 0 } });
      return (url, init = { headers: {} }) => guarded(url, init).text();
    },
  ],
  ...(['http', 'fetch'] as const).map((adapter): (typeof libraries)[number] => [
    `guardAxios over ${adapter}`,
    (options, robots = namedClient()) => {
      const guarded = guardAxios(axios.create({ adapter }), robots, options);
      return async (url, init = { headers: {} }) => (await guarded.get<string>(url, init)).data;
    },
  ]),
];
