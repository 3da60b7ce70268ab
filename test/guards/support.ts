import { fetch as undiciFetch, Request as UndiciRequest } from 'undici';
import type { Agent, Decision, GuardClient } from '../../src/index.ts';
import { answer, type Handler, type Site, startSite } from '../support/site.ts';
import { opened } from '../support/opened.ts';

/** A scripted client, which records its calls. */
export class ScriptedClient implements GuardClient {
  readonly peeked: string[] = [];
  readonly checked: string[] = [];
  readonly agents: (Agent | undefined)[] = [];
  readonly reports: [url: string, reachable: boolean][] = [];
  /** How `check` waits before it answers; without it `peek` knows everything. */
  pending: ((url: string, signal: AbortSignal | undefined) => Promise<void>) | undefined;
  private readonly refuse: (url: URL) => Partial<Decision> | undefined;

  /** By default a path that starts with `/private` is disallowed. */
  constructor(refuse: (url: URL) => Partial<Decision> | undefined = byPath) {
    this.refuse = refuse;
  }

  peek(url: string | URL, agent?: Agent): Decision | undefined {
    this.peeked.push(String(url));
    this.agents.push(agent);
    return this.pending === undefined ? this.decide(String(url)) : undefined;
  }

  async check(
    url: string | URL,
    _agent?: Agent,
    options?: { readonly signal?: AbortSignal },
  ): Promise<Decision> {
    this.checked.push(String(url));
    await this.pending?.(String(url), options?.signal);
    return this.decide(String(url));
  }

  report(url: string | URL, { reachable }: { readonly reachable: boolean }): void {
    this.reports.push([String(url), reachable]);
  }

  private decide(url: string): Decision {
    const { origin } = new URL(url);
    const robots = {
      url: `${origin}/robots.txt`,
      finalUrl: `${origin}/robots.txt`,
      hops: 0,
      source: 'memory',
    } as const;
    const base = { url, origin, agent: 'ExampleBot', profile: 'rfc9309', robots } as const;
    const refused = this.refuse(new URL(url));
    if (refused?.reason === 'unreachable') {
      const { retryAt } = refused;
      const when = retryAt === undefined ? {} : { retryAt };
      // A client of another class may leave it out.
      return { ...base, state: 'disallow-all', allowed: false, reason: 'unreachable', ...when } as Decision;
    }
    const group = { agent: '*', lines: [1] };
    if (refused === undefined) return { ...base, state: 'rules', allowed: true, reason: 'no-rule', group };
    const rule = refused.rule ?? { directive: 'disallow', pattern: '/private', line: 2 };
    return { ...base, state: 'rules', allowed: false, reason: 'rule', group, rule };
  }
}

function byPath(url: URL): Partial<Decision> | undefined {
  return url.pathname.startsWith('/private') ? { reason: 'rule' } : undefined;
}

/** Says when something has happened; tests wait for it instead of for time. */
export class Moment {
  readonly come: Promise<void>;
  private settle: () => void = () => undefined;

  constructor() {
    this.come = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  readonly now = (): void => this.settle();
}

/** Redirects `/a` to `/b` with a body that never ends. `freed` has come when its socket is closed. */
export function endlessRedirect(freed: Moment): Handler {
  return (request, response) => {
    if (request.url !== '/a') return echo(request, response);
    response.on('close', freed.now);
    response.writeHead(302, { location: '/b' });
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
export const realms: readonly [
  name: string,
  fetch: typeof globalThis.fetch,
  request: GlobalRequest,
  foreign: GlobalRequest,
][] = [
  ['the global fetch', globalThis.fetch, Request, UndiciRequest as unknown as GlobalRequest],
  [
    'the fetch of undici',
    undiciFetch as unknown as typeof globalThis.fetch,
    UndiciRequest as unknown as GlobalRequest,
    Request,
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
