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
export function mockHint(code: string | undefined, url: string): string | undefined {
  const name = code !== undefined && NETWORK_CODE.test(code) ? activeMock() : undefined;
  if (name === undefined) return undefined;
  return `${name} is active: make the client with \`transport: 'fetch'\`, so that ${name} sees its requests, and mock ${url}`;
}

function activeMock(): string | undefined {
  for (const [symbol, name] of MARKS) if (Symbol.for(symbol) in globalThis) return name;
  // Those of vitest and Jest have `mock`, those of sinon have `isSinonProxy`.
  const { fetch }: { readonly fetch?: unknown } = globalThis;
  const isStub = 'mock' in Object(fetch) || 'isSinonProxy' in Object(fetch);
  return isStub ? 'a stub of the global fetch' : undefined;
}
