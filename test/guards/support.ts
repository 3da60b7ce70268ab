import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { fetch as undiciFetch, Request as UndiciRequest } from 'undici';
import { vi } from 'vitest';
import { engineOf } from '../../src/core/client/client-engine.ts';
import type { DecisionMessage, IgnoredMessage, RobotsClient, RobotsClientOptions } from '../../src/index.ts';
import { Moment } from '../support/moment.ts';
import { answer, type Handler, type Site, startSite } from '../support/site.ts';
import { opened, openedClient } from '../support/opened.ts';

/** A client that finds `rules` at every site, and is closed after the test. */
export function scriptedClient(
  rules = 'User-agent: *\nDisallow: /private',
  options: RobotsClientOptions = {},
): RobotsClient {
  return openedClient({ transport: { fetch: async () => new Response(rules) }, ...options }).robots;
}

/** The URLs that a client decides about from now on, until the end of the test. */
export function decidedBy(robots: RobotsClient): string[] {
  const decided: string[] = [];
  const listen = (message: unknown): void => {
    const { client, decision } = message as DecisionMessage;
    if (client === robots) decided.push(decision.url);
  };
  subscribe('canfetch:decision', listen);
  opened({ [Symbol.asyncDispose]: async () => void unsubscribe('canfetch:decision', listen) });
  return decided;
}

/** The requests that guards have sent without a check since then. */
export function sentUnchecked(): { readonly url: string; readonly because: string }[] {
  const ignored: { url: string; because: string }[] = [];
  const listen = (message: unknown): void => {
    const { url, because } = message as IgnoredMessage;
    ignored.push({ url, because });
  };
  subscribe('canfetch:ignored', listen);
  opened({ [Symbol.asyncDispose]: async () => void unsubscribe('canfetch:ignored', listen) });
  return ignored;
}

/** Whether sites respond, as a client has been told since then. */
export function reportsTo(robots: RobotsClient): () => [origin: string, reachable: boolean][] {
  const { mock } = vi.spyOn(engineOf(robots), 'reportOrigin');
  return () => mock.calls.map(([origin, reachable]) => [origin, reachable]);
}

/** A response that never comes. */
export function never(asked?: Moment): Promise<never> {
  asked?.now();
  return new Promise(() => undefined);
}

/** A client whose answer about an origin comes only after a moment. */
export function clientThatWaits(origin: string, moment: Moment): RobotsClient {
  const fetch = async (url: string): Promise<Response> => {
    if (url.startsWith(origin)) await moment.come;
    return new Response();
  };
  return scriptedClient('', { transport: { fetch } });
}

/** Redirects to `location` with a body that never ends. `freed` has come when its socket is closed. */
export function endlessRedirect(location: string, freed: Moment): Handler {
  return (_request, response) => {
    response.on('close', freed.now);
    response.writeHead(302, { location });
    response.write('and so on');
  };
}

/** A site that is closed after the test. */
export async function site(handler: Handler): Promise<Site> {
  return opened(await startSite(handler));
}

export const pagesOf = ({ requests }: Site): string[] =>
  requests.map(({ method, url }) => `${method} ${url}`);

/** Redirects every path in `locations`, and answers any other with what arrived. */
export function redirecting(locations: Readonly<Record<string, string>>, status = 302): Handler {
  return (request, response) => {
    const location = locations[request.url ?? ''];
    if (location !== undefined) answer(response, { status, headers: { location }, body: 'moved' });
    else echo(request, response);
  };
}

export const echo: Handler = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { method, url, headers, rawHeaders } = request;
    const body = Buffer.concat(chunks).toString();
    answer(response, { body: JSON.stringify({ method, url, headers, rawHeaders, body }) });
  });
};

type GlobalRequest = typeof globalThis.Request;

/** Both take and give what the standard says; their types differ in name only. */
export const realms: readonly [name: string, fetch: typeof globalThis.fetch, request: GlobalRequest][] = [
  ['the global fetch', globalThis.fetch, Request],
  [
    'the fetch of undici',
    undiciFetch as unknown as typeof globalThis.fetch,
    UndiciRequest as unknown as GlobalRequest,
  ],
];

/** A body that can be read once. */
export function streamOf(...chunks: string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
      controller.close();
    },
  });
}

/** A fetch, and what it was called with. */
export function recording(
  fetch: typeof globalThis.fetch,
): [typeof globalThis.fetch, [input: unknown, init: RequestInit][]] {
  const calls: [unknown, RequestInit][] = [];
  return [
    (input, init = {}) => {
      calls.push([input, init]);
      return fetch(input, init);
    },
    calls,
  ];
}
