/** The platform where undici is whole: Node and Deno. {@link Platform} says who imports this file. */
import { createRequire } from 'node:module';
import { builtin } from '../../base/index.ts';
import { configuredGlobalDispatcher } from '../../net/global-dispatcher.ts';
import { platform as platformWithFetch } from './fetch.ts';
import type { Platform } from './fetch.ts';

const nodeOrDeno: Platform = {
  transport: 'undici',
  describe() {
    const { version }: { readonly version: string } = createRequire(import.meta.url)('undici/package.json');
    return `undici ${version}`;
  },
  undici: {
    checksConnections: () => configuredGlobalDispatcher() === undefined,
    async openTransport(options) {
      const { undiciTransport } = await import('../undici-transport.ts');
      return undiciTransport(options);
    },
    async openPageAgents(lookup) {
      const { PageAgents } = await import('../../net/connectors.ts');
      return new PageAgents(lookup);
    },
    surviveManyCodings,
    mockHint,
  },
};

/** Bun replaces undici by a part of it. A bundle made for Node may run there, without Bun's condition. */
export const platform: Platform = 'Bun' in globalThis ? platformWithFetch : nodeOrDeno;

/** The most items of `Content-Encoding` that undici's `fetch` takes. */
const MAX_ITEMS_OF_UNDICI = 5;

let isJoining = false;

/**
 * Keeps a response with many content codings from ending the process. The `fetch` of Node 20 (undici 6.24) rejects such a
 * response, but has made a stream for its body, which raises an uncaught exception when the connection ends. undici
 * publishes the fields first. Joined, they name one unknown coding, and the body is passed on as it came. Fetch standard,
 * "handle content codings": "If codings are not supported, then return bytes."
 */
function surviveManyCodings(): void {
  if (isJoining) return;
  isJoining = true;
  builtin('node:diagnostics_channel')?.subscribe('undici:request:headers', joinManyCodings);
}

function joinManyCodings(message: unknown): void {
  const fields: unknown = partOf(message, 'response', 'headers');
  if (!Array.isArray(fields)) return;
  const lines: number[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) if (isContentEncoding(fields[at])) lines.push(at);
  if (lines.length === 0) return;
  const items = lines.flatMap((at) => String(fields[at + 1]).split(','));
  // Requests of other APIs of undici are left alone. Only a fetch sends this field.
  if (
    items.length <= MAX_ITEMS_OF_UNDICI ||
    !/sec-fetch-mode/i.test(String(partOf(message, 'request', 'headers')))
  )
    return;
  for (const at of lines.reverse()) fields.splice(at, 2);
  fields.push(Buffer.from('content-encoding'), Buffer.from(items.join(';'), 'latin1'));
}

function isContentEncoding(name: unknown): boolean {
  return name instanceof Uint8Array && name.length === 16 && /^content-encoding$/i.test(String(name));
}

function partOf(message: unknown, part: string, name: string): unknown {
  return Reflect.get(Object(Reflect.get(Object(message), part)), name);
}

/** Registered symbols of active request mocks. nock 14 and msw 2 both use `@mswjs/interceptors`. */
const MARKS: readonly (readonly [symbol: string, name: string])[] = [
  ['nock-interceptor', 'nock'],
  ['interceptor-source', 'msw'],
  ['setup-server', 'msw'],
  ['fetch-interceptor', '@mswjs/interceptors'],
];

/** Codes of requests that went to the network: those of Node and undici, and the deadline. */
const NETWORK_CODE = /^(?:E(?!RR_)|UND_ERR_|ERR_ROBOTS_DEADLINE$)/;

/**
 * A hint for a request to `url` that failed with `code` while a request mock was active: the mock has probably not seen
 * the request. `undefined` without a mock.
 */
function mockHint(code: string | undefined, url: string): string | undefined {
  const name = code !== undefined && NETWORK_CODE.test(code) ? activeMock() : undefined;
  if (name === undefined) return undefined;
  const transport =
    name === NOCK_13 ? '`transport: gotTransport(got)` or `axiosTransport(axios)`' : "`transport: 'fetch'`";
  return `${name} is active: make the client with ${transport}, so that ${name} sees its requests, and mock ${url}`;
}

/** It has no registered symbol, and sees requests over `node:http` alone, none of a `fetch`. */
const NOCK_13 = 'nock 13';

function activeMock(): string | undefined {
  for (const [symbol, name] of MARKS) if (Symbol.for(symbol) in globalThis) return name;
  // Those of vitest and Jest have `mock`, those of sinon have `isSinonProxy`.
  const { fetch }: { readonly fetch?: unknown } = globalThis;
  const isStub = 'mock' in Object(fetch) || 'isSinonProxy' in Object(fetch);
  if (builtin('node:http')?.ClientRequest.name === 'OverriddenClientRequest') return NOCK_13;
  return isStub ? 'a stub of the global fetch' : undefined;
}
