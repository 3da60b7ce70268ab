/**
 * What `canfetch` does, alike in every runtime. Plain, so that it runs as a script, in a Worker and in a page; it
 * imports the package by its name. Where a runtime cannot do something, the contract says what happens there instead.
 */
import { guardFetch, refusalIn, RobotsClient, type RobotsClientOptions } from 'canfetch';
import { keyvStore } from 'canfetch/keyv';
import robotsParser from 'canfetch/robots-parser';
import { parseRobots } from 'canfetch/rules';
import type { Plan, SeenRequest } from './sites.ts';

/** What is not the same everywhere: see `src/package/README.md`. */
export interface Runtime {
  readonly name: string;
  /** Whether the address of a connection is checked. */
  readonly checksConnections: boolean;
  /** Whether redirects can be followed: pages in a browser do not see where they lead. */
  readonly seesRedirects: boolean;
  /** Whether all fields of a response are seen, and codings chosen: a page has what CORS shows, and the browser's. */
  readonly showsFields: boolean;
  /** Whether a request says who asks: in Chromium it has the browser's `User-Agent`. */
  readonly setsUserAgent: boolean;
}

/** The result of one behaviour. */
export interface Result {
  readonly behaviour: string;
  readonly error?: string;
}

const AGENT = 'ExampleBot/1.0 (+https://example.com/bot)';
const ROBOTS = { body: 'User-agent: *\nDisallow: /private\n' };
const HOUR = 3_600_000;

/** A site of the contract, over the control server. */
class Site {
  readonly origin: string;
  readonly #control: string;

  private constructor(control: string, origin: string) {
    this.#control = control;
    this.origin = origin;
  }

  static async open(control: string, plan: Plan): Promise<Site> {
    const response = await fetch(control, { method: 'POST', body: JSON.stringify(plan) });
    const { origin } = (await response.json()) as { readonly origin: string };
    return new Site(control, origin);
  }

  readonly becomes = async (plan: Plan): Promise<void> => {
    const body = JSON.stringify({ origin: this.origin, plan });
    await (await fetch(this.#control, { method: 'PUT', body })).text();
  };

  readonly requests = async (path?: string): Promise<readonly SeenRequest[]> => {
    const response = await fetch(`${this.#control}/?origin=${encodeURIComponent(this.origin)}`);
    const requests = (await response.json()) as readonly SeenRequest[];
    return requests.filter((request) => path === undefined || request.path === path);
  };
}

interface Around {
  readonly runtime: Runtime;
  /** The control server of the sites. */
  readonly control: string;
  site(plan: Plan): Promise<Site>;
  /** A client that is closed after the behaviour. Its clock stands still until it is moved. */
  client(options?: RobotsClientOptions): RobotsClient;
  /** Moves the clock of the clients. */
  later(ms: number): void;
}

type Behaviour = (around: Around) => Promise<void>;

const behaviours: Readonly<Record<string, Behaviour>> = {
  'answers by the rules of the site, with one request': async ({ site, client, runtime }) => {
    const { origin, requests } = await site({ '/robots.txt': ROBOTS });
    const robots = client();
    same(await robots.canFetch(`${origin}/page`), true);
    same(await robots.canFetch(`${origin}/private/x`), false);
    const decision = await robots.check(`${origin}/private/x`);
    same([decision.reason, decision.rule?.line, decision.state], ['rule', 2, 'rules']);
    same(robots.permits(`${origin}/private`), false);
    same(robots.peek(`${origin}/page`)?.allowed, true);
    const seen = await requests();
    same([seen.length, seen[0]?.path], [1, '/robots.txt']);
    same(seen[0]?.userAgent === AGENT, runtime.setsUserAgent);
  },

  'asks a site once, however many wait': async ({ site, client }) => {
    const { origin, requests } = await site({ '/robots.txt': { ...ROBOTS, afterMs: 50 } });
    const robots = client();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => robots.canFetch(`${origin}/private/${at}`)),
    );
    same(answers.includes(true), false);
    same((await requests()).length, 1);
  },

  'reads a file that comes compressed where its end is seen': async ({ site, client, runtime }) => {
    const { origin } = await site({ '/robots.txt': { ...ROBOTS, gzip: true } });
    const { rule, robots } = await client().check(`${origin}/private`);
    // A `fetch` does not tell whether a coded body was cut. So none is asked for, and this site sends one all the same.
    const reads = runtime.checksConnections || !runtime.showsFields;
    same([rule?.line, robots.error], reads ? [2, undefined] : [undefined, 'ERR_ROBOTS_CONTENT_CODING']);
  },

  'allows everything after a 404': async ({ site, client }) => {
    const { origin } = await site({});
    const { state, reason, allowed } = await client().check(`${origin}/private`);
    same([state, reason, allowed], ['allow-all', 'unavailable', true]);
  },

  'disallows everything after a 503, and does not ask again before its time': async ({
    site,
    client,
    later,
  }) => {
    const { origin, requests } = await site({ '/robots.txt': { status: 503 } });
    const robots = client();
    for (const path of ['/', '/page', '/other']) {
      const { state, reason, allowed } = await robots.check(origin + path);
      same([state, reason, allowed], ['disallow-all', 'unreachable', false]);
    }
    same((await requests()).length, 1);
    later(HOUR);
    same(await robots.canFetch(origin), false);
    same((await requests()).length, 2);
  },

  'disallows everything while nothing listens, or nothing answers in time': async ({ site, client }) => {
    const { origin } = await site({ '/robots.txt': { afterMs: null } });
    const robots = client({ deadlineMs: 300 });
    const slow = await robots.check(`${origin}/page`);
    same([slow.allowed, slow.robots.error], [false, 'ERR_ROBOTS_DEADLINE']);
    const refused = await robots.check('http://127.0.0.1:1/page');
    same([refused.state, refused.reason, refused.allowed], ['disallow-all', 'unreachable', false]);
  },

  'keeps to the last good copy during an outage': async ({ site, client, later }) => {
    const { origin, becomes, requests } = await site({ '/robots.txt': ROBOTS });
    const robots = client();
    same(await robots.canFetch(`${origin}/page`), true);
    await becomes({ '/robots.txt': { status: 503 } });
    later(25 * HOUR);
    const allowed = await robots.check(`${origin}/page`);
    const disallowed = await robots.check(`${origin}/private`);
    same([allowed.state, allowed.allowed, disallowed.allowed], ['last-good', true, false]);
    same((await requests()).length, 2);
  },

  'follows redirects of robots.txt where the runtime shows them, and disallows elsewhere': async ({
    site,
    client,
    runtime,
  }) => {
    const target = await site({ '/robots.txt': ROBOTS });
    const { origin } = await site({
      '/robots.txt': { status: 301, headers: { location: `${target.origin}/robots.txt` } },
    });
    const decision = await client().check(`${origin}/page`);
    same(
      [decision.allowed, decision.robots.hops, decision.robots.error],
      runtime.seesRedirects ? [true, 1, undefined] : [false, 0, 'ERR_ROBOTS_REDIRECT_OPAQUE'],
    );
  },

  'guards fetch: refuses what is disallowed before it is sent': async ({ site, client }) => {
    const { origin, requests } = await site({
      '/robots.txt': ROBOTS,
      '/page': { body: 'a page' },
      '/private': { body: 'a secret' },
    });
    const polite = guardFetch(fetch, client());
    same(await (await polite(`${origin}/page`)).text(), 'a page');
    const error: unknown = await polite(`${origin}/private`).catch((reason: unknown) => reason);
    same(
      [Reflect.get(Object(error), 'code'), refusalIn(error)?.decision?.rule?.line],
      ['ERR_ROBOTS_DISALLOWED', 2],
    );
    const answering = guardFetch(fetch, client(), { onDisallow: 'response' });
    same((await answering(`${origin}/private`)).status, 403);
    same((await requests('/private')).length, 0);
  },

  'guards fetch: refuses a redirect into what is disallowed, and one that the runtime hides': async ({
    site,
    client,
    runtime,
  }) => {
    const { origin, requests } = await site({
      '/robots.txt': ROBOTS,
      '/out': { status: 302, headers: { location: '/private' } },
      '/on': { status: 302, headers: { location: '/page' } },
      '/page': { body: 'a page' },
      '/private': { body: 'a secret' },
    });
    const polite = guardFetch(fetch, client());
    const codeOf = (path: string): Promise<unknown> =>
      polite(origin + path).then(
        (response) => response.text(),
        (reason: unknown) => Reflect.get(Object(reason), 'code'),
      );
    same(
      await codeOf('/out'),
      runtime.seesRedirects ? 'ERR_ROBOTS_DISALLOWED' : 'ERR_ROBOTS_REDIRECT_OPAQUE',
    );
    same(await codeOf('/on'), runtime.seesRedirects ? 'a page' : 'ERR_ROBOTS_REDIRECT_OPAQUE');
    same((await requests('/private')).length, 0);
  },

  'guards fetch: the next page waits for no body that was read, whatever read it': async ({
    site,
    client,
  }) => {
    const { origin } = await site({ '/robots.txt': ROBOTS, '/page': { body: 'a page' } });
    const robots = client();
    const polite = guardFetch(fetch, robots, { pacing: { defaultDelayMs: 1 } });
    const reads: readonly ((response: Response) => Promise<unknown>)[] = [
      (response) => response.text(),
      (response) => new Response(response.body).arrayBuffer(),
      (response) => response.clone().text(),
    ];
    for (const read of reads) {
      await read(await polite(`${origin}/page`));
      const { pacing } = await robots.policy(origin);
      same(pacing?.inFlight ?? [], []);
    }
  },

  'lets one caller leave, and the others have the answer': async ({ site, client }) => {
    const { origin, requests } = await site({ '/robots.txt': { ...ROBOTS, afterMs: 100 } });
    const robots = client();
    const leaving = new AbortController();
    const left = robots.check(`${origin}/page`, undefined, { signal: leaving.signal });
    const stays = robots.canFetch(`${origin}/private`);
    leaving.abort(new Error('left'));
    same(await failureOf(left), 'left');
    same(await stays, false);
    const aborted = AbortSignal.abort(new Error('never came'));
    same(await failureOf(robots.canFetch(origin, undefined, { signal: aborted })), 'never came');
    same((await requests()).length, 1);
  },

  'remembers nothing of a question that all have left': async ({ site, client }) => {
    const { origin, becomes } = await site({ '/robots.txt': { afterMs: null } });
    const robots = client();
    const leaving = new AbortController();
    const left = robots.canFetch(`${origin}/page`, undefined, { signal: leaving.signal });
    leaving.abort(new Error('left'));
    same(await failureOf(left), 'left');
    await becomes({ '/robots.txt': ROBOTS });
    same(await robots.canFetch(`${origin}/page`), true);
  },

  'closes: who waits is told, and it can be closed twice': async ({ site, client }) => {
    const { origin } = await site({ '/robots.txt': { afterMs: null } });
    const robots = client();
    const waiting = failureOf(robots.canFetch(`${origin}/page`), 'code');
    await Promise.all([robots.close(), robots.close()]);
    same(await waiting, 'ERR_ROBOTS_CLOSED');
    same(await failureOf(robots.canFetch(origin), 'code'), 'ERR_ROBOTS_CLOSED');
    await robots.close();
    // Without one question, and so without a transport.
    await client().close();
  },

  'goes to public addresses only where it sees them, and refuses to pretend elsewhere': async ({
    site,
    client,
    runtime,
  }) => {
    const { origin, requests } = await site({ '/robots.txt': ROBOTS });
    const strict = (): RobotsClient => client({ addressPolicy: 'public-only' });
    if (runtime.checksConnections) {
      const { allowed, robots } = await strict().check(`${origin}/page`);
      same([allowed, robots.error], [false, 'ERR_ROBOTS_ADDRESS_REFUSED']);
    } else {
      const lookup = (): void => {};
      const dispatcher = { dispatch: () => true };
      const refused = [strict, () => client({ lookup }), () => client({ dispatcher: dispatcher as never })];
      const pages = (): unknown => guardFetch(fetch, client(), { addressPolicy: 'public-only' });
      for (const make of [...refused, pages]) {
        same(await failureOf(Promise.resolve().then(make), 'code'), 'ERR_ROBOTS_INVALID_OPTIONS');
      }
    }
    const { addressChecks } = await client().policy('http://127.0.0.1:1/');
    same(addressChecks, runtime.checksConnections ? 'connections' : 'literals');
    same((await requests()).length, 0);
  },

  'takes a fetch of the caller instead': async ({ client }) => {
    const asked: string[] = [];
    const answering = async (url: string): Promise<Response> => {
      asked.push(url);
      return new Response('User-agent: *\nDisallow: /private\n');
    };
    const robots = client({ transport: { fetch: answering }, addressPolicy: 'public-only' });
    same(await robots.canFetch('https://example.com/private'), false);
    same(asked, ['https://example.com/robots.txt']);
    same((await robots.policy('https://example.com/')).addressChecks, 'literals');
  },

  'opens nothing by an answer that is not one whole file': async ({ site, client, control, runtime }) => {
    const names = (await (
      await fetch(`${control}/?framings=${runtime.showsFields ? '' : 'page'}`)
    ).json()) as readonly string[];
    const { origin, becomes } = await site({});
    const opened: string[] = [];
    for (const framing of names) {
      await becomes({ '/robots.txt': { framing } });
      const { allowed, state, robots } = await client({ deadlineMs: 1_000 }).check(`${origin}/private`);
      if (allowed) opened.push(`${framing} (${state}, ${robots.status})`);
    }
    same(opened, []);
  },

  'keeps what it has read in a store, for the next client': async ({ site, client }) => {
    const { origin, requests } = await site({ '/robots.txt': ROBOTS });
    const kept = new Map<string, string>();
    const store = keyvStore({
      get: async (key) => kept.get(key),
      set: async (key, value) => kept.set(key, value),
      delete: async (key) => kept.delete(key),
    });
    for (const robots of [client({ store }), client({ store })]) {
      same(await robots.canFetch(`${origin}/private`), false);
      await robots.close();
    }
    same((await requests()).length, 1);
  },

  'parses without a client': async () => {
    same(parseRobots(ROBOTS.body).check('/private', 'ExampleBot').allowed, false);
    const parsed = robotsParser('https://example.com/robots.txt', ROBOTS.body);
    same(parsed.isAllowed('https://example.com/private', 'ExampleBot'), false);
  },
};

/** Runs every behaviour, one after the other. */
export async function runContract(control: string, runtime: Runtime): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const [behaviour, test] of Object.entries(behaviours)) {
    const clients: RobotsClient[] = [];
    let now = Date.UTC(2026, 0, 1);
    const around: Around = {
      runtime,
      control,
      site: (plan) => Site.open(control, plan),
      client: (options = {}) => {
        const client = new RobotsClient({ agent: AGENT, clock: { now: () => now }, ...options });
        clients.push(client);
        return client;
      },
      later: (ms) => void (now += ms),
    };
    try {
      await test(around);
      for (const client of clients) await client.close();
      results.push({ behaviour });
    } catch (error) {
      results.push({
        behaviour,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    }
  }
  return results;
}

/** What a promise rejects with. */
async function failureOf(
  promise: Promise<unknown>,
  member: 'code' | 'message' = 'message',
): Promise<unknown> {
  return promise.then(
    () => 'no failure',
    (reason: unknown) => Reflect.get(Object(reason), member),
  );
}

/** @throws Error when the two are not equal as JSON. */
function same(actual: unknown, expected: unknown): void {
  const [came, wanted] = [actual, expected].map((value) => JSON.stringify(value, plain));
  if (came !== wanted) throw new Error(`Expected ${wanted}, got ${came}`);
}

const plain = (_key: string, value: unknown): unknown => (value === undefined ? 'undefined' : value);
