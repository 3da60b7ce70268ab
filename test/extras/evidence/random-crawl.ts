import { setImmediate } from 'node:timers/promises';
import { guardFetch, profiles, RobotsClient, type RobotsClientOptions } from '../../../src/index.ts';
import type { ProfileName } from '../../../src/core/lifecycle/index.ts';
import type { EvidenceEntry } from '../../../src/core/client/evidence/entry.ts';
import fc from '../../support/fast-check.ts';
import { DAY, HOUR, MINUTE, SECOND, START } from '../../support/client.ts';
import { Moment } from '../../support/moment.ts';
import { ScriptedStore } from '../../support/store.ts';

/** The length of pauses that another process of the fleet learns of. */
export const SHARED_PAUSE_MS = 9_000_000;
const ORIGINS = ['https://a.example', 'https://b.example', 'https://c.example:8443', 'https://d.example'];
const GIVEN = 'https://given.example';
const FILES = [
  'User-agent: *\nDisallow: /private\n',
  'User-agent: *\nAllow: /\n\nUser-agent: FirstBot\nDisallow: /\n',
  'User-agent: SecondBot\nDisallow: /page\nAllow: /page/open\n',
  '\ufeffUser-agent: *\nDisallow: /\u00fc\nCrawl-delay: 1\n',
  '',
  '<!doctype html><title>Just a moment...</title>',
];
const PATHS = ['/', '/private/x', '/page', '/page/open?q', '/\u00fc', '/robots.txt'];
const AGENTS = ['FirstBot/2.0', 'SecondBot', ['ThirdBot', 'FirstBot'] as const, undefined];

const TARGETS = [
  ...['/elsewhere.txt', '/robots.txt', '//', 'https://unknown.example/robots.txt'],
  ...ORIGINS.slice(0, 2).map((origin) => `${origin}/robots.txt`),
];

/** What a site answers for its robots.txt from now on. */
const answer = fc.oneof(
  fc.record({
    kind: fc.constant('file' as const),
    file: fc.nat(FILES.length - 1),
    etag: fc.boolean(),
    maxAge: fc.option(fc.constantFrom(0, 60, 3_600, 864_000), { nil: undefined }),
  }),
  fc.record({
    kind: fc.constant('status' as const),
    status: fc.constantFrom(401, 403, 404, 410, 429, 500, 503, 304),
    retryAfter: fc.option(fc.constantFrom('120', '0', 'Thu, 15 Jan 2026 18:00:00 GMT'), { nil: undefined }),
  }),
  fc.record({
    kind: fc.constant('redirect' as const),
    to: fc.constantFrom(...TARGETS),
  }),
  fc.constant({ kind: 'broken' as const }),
);
type PageAnswer = { readonly status: number; readonly retryAfter: string | undefined };
type Answer = typeof answer extends fc.Arbitrary<infer Value> ? Value : never;

/** By which the clock moves. */
const TIMES = [
  ...[1, SECOND, 31 * SECOND, 11 * MINUTE, HOUR, 13 * HOUR, 23 * HOUR],
  ...[DAY, 31 * DAY, -HOUR, -DAY],
];

const site = fc.nat(ORIGINS.length - 1);
const asking = {
  site,
  path: fc.nat(PATHS.length - 1),
  agent: fc.nat(AGENTS.length - 1),
};
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      ...asking,
      by: fc.constantFrom('check', 'canFetch', 'permits', 'peek', 'guard', 'policy'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('answer' as const), site, answer }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('time' as const),
      ms: fc.constantFrom(...TIMES),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('invalidate' as const), site, midway: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('report' as const), site, reachable: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('given' as const), ...asking }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('page' as const),
      site,
      status: fc.constantFrom(200, 429, 503),
      retryAfter: fc.option(fc.constantFrom('5', '600', '86400'), { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('pause' as const),
      site,
      retryAfter: fc.constantFrom('60', '7200', '86400'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('shared-pause' as const), site }) },
);
/** What happens to the file that evidence is written to. */
const fileStep = fc.record({
  kind: fc.constant('file' as const),
  event: fc.constantFrom('reopen', 'crash', 'fill', 'free', 'wait'),
  /** For a crash: how many bytes of the last write are missing. For a full disk: how many are left. */
  bytes: fc.nat(700),
});
export type FileStep = typeof fileStep extends fc.Arbitrary<infer Value> ? Value : never;
type Step = (typeof step extends fc.Arbitrary<infer Value> ? Value : never) | FileStep;

const PROFILES = Object.keys(profiles) as ProfileName[];

const settings = {
  profile: fc.constantFrom(...PROFILES),
  variant: fc.boolean(),
  /** Whether its guard paces. It defers requests rather than that it waits. */
  paces: fc.boolean(),
  store: fc.boolean(),
  random: fc.constantFrom(0, 0.3, 0.999),
  /** Few, so that origins make room for each other. */
  maxOrigins: fc.constantFrom(1, 2, 8),
};
/** A crawl, step by step. */
export const randomCrawl = fc.record({
  ...settings,
  steps: fc.array(step, { minLength: 4, maxLength: 30 }),
});
/** The same, with what happens to its file. */
export const randomFileCrawl = fc.record({
  ...settings,
  steps: fc.array<Step>(
    fc.oneof({ weight: 3, arbitrary: step }, { weight: 1, arbitrary: fileStep }) as fc.Arbitrary<Step>,
    { minLength: 4, maxLength: 40 },
  ),
});
export type CrawlPlan = Omit<
  typeof randomCrawl extends fc.Arbitrary<infer Value> ? Value : never,
  'steps'
> & {
  readonly steps: readonly Step[];
};

/** A crawl that gives its evidence to `listener`. */
export class Crawl {
  readonly #listener: (entry: EvidenceEntry) => void;
  readonly #onFile: (step: FileStep) => Promise<void>;
  readonly #plan: CrawlPlan;
  readonly #clock = { time: START, now: (): number => this.#clock.time };
  readonly #answers = new Map<string, Answer>();
  readonly #pages = new Map<string, PageAnswer>();
  readonly #store: ScriptedStore;
  /** Resolves requests for robots.txt one by one, where they are to be held up. */
  #held: Promise<void> = Promise.resolve();
  #client: RobotsClient;

  constructor(
    plan: CrawlPlan,
    listener: (entry: EvidenceEntry) => void,
    onFile: (step: FileStep) => Promise<void> = async () => undefined,
  ) {
    this.#plan = plan;
    this.#listener = listener;
    this.#onFile = onFile;
    this.#store = new ScriptedStore({ clock: this.#clock, reserves: true });
    this.#client = this.#start();
  }

  async run(): Promise<void> {
    for (const each of this.#plan.steps) await this.#take(each);
    await this.#client.close();
  }

  async #take(each: Step): Promise<void> {
    switch (each.kind) {
      case 'file':
        await this.#onFile(each);
        // A process that crashes has another client afterwards.
        return each.event === 'crash' ? this.#restart() : undefined;
      case 'ask':
        return this.#ask(ORIGINS[each.site]! + PATHS[each.path]!, AGENTS[each.agent], each.by);
      case 'given':
        return this.#ask(GIVEN + PATHS[each.path]!, AGENTS[each.agent], 'check');
      case 'answer':
        return void this.#answers.set(ORIGINS[each.site]!, each.answer);
      case 'time':
        return void (this.#clock.time += each.ms);
      case 'restart':
        return this.#restart();
      case 'invalidate':
        return this.#invalidate(ORIGINS[each.site]!, each.midway);
      case 'report':
        return this.#client.report(ORIGINS[each.site]!, { reachable: each.reachable });
      case 'page':
        return void this.#pages.set(ORIGINS[each.site]!, each);
      case 'pause':
        return this.#client.report(ORIGINS[each.site]!, { reachable: true, retryAfter: each.retryAfter });
      case 'shared-pause':
        return this.#pauseElsewhere(ORIGINS[each.site]!);
    }
  }

  async #ask(url: string, agent: (typeof AGENTS)[number], by: string): Promise<void> {
    const client = this.#client;
    if (by === 'permits') return void client.permits(url, agent);
    if (by === 'peek') return void client.peek(url, agent);
    if (by === 'check') return void (await client.check(url, agent));
    if (by === 'canFetch') return void (await client.canFetch(url, agent));
    if (by === 'policy') return void (await client.policy(url));
    const pacing = this.#plan.paces && { maxDelayMs: 0 };
    const get = guardFetch(async (asked: string) => this.#page(asked), client, {
      pacing,
      clock: this.#clock,
    });
    const response = await get(url).catch(() => undefined);
    await response?.text();
  }

  #page(url: string): Response {
    const { status, retryAfter } = this.#pages.get(new URL(url).origin) ?? { status: 200 };
    return new Response('a page', {
      status,
      headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
    });
  }

  /** Another process of the fleet learns of a pause. */
  async #pauseElsewhere(origin: string): Promise<void> {
    const { clock, store } = { clock: this.#clock, store: this.#store };
    const other = new RobotsClient({ agent: 'FirstBot/1.0', clock, store });
    const before = store.count('pause');
    other.report(origin, { reachable: true, retryAfter: String(SHARED_PAUSE_MS / SECOND) });
    while (store.count('pause') === before) await setImmediate();
    await other.close();
  }

  /** Midway: while its robots.txt is on its way. */
  async #invalidate(origin: string, midway: boolean): Promise<void> {
    if (!midway) return this.#client.invalidate(origin);
    const proceeding = new Moment();
    this.#held = proceeding.come;
    const waiting = [this.#client.check(`${origin}/private/x`), this.#client.check(`${origin}/page`)];
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    await this.#client.invalidate(origin);
    proceeding.now();
    await Promise.all(waiting);
  }

  async #restart(): Promise<void> {
    await this.#client.close();
    this.#client = this.#start();
  }

  #start(): RobotsClient {
    const { profile, variant, store, random, maxOrigins } = this.#plan;
    const options: RobotsClientOptions = {
      agent: 'FirstBot/1.0',
      profile: variant ? { ...profiles[profile], name: 'mine', challenge: 'unreachable' } : profile,
      overrides: {
        [GIVEN]: { text: FILES[0]!, because: 'agreed' },
        [ORIGINS[3]!]: { profile: 'google' },
      },
      clock: this.#clock,
      random: () => random,
      cache: { maxOrigins },
      evidence: (entry) => this.#listener(entry),
      transport: { fetch: (url, { headers }) => this.#respond(url, headers['if-none-match']) },
    };
    return new RobotsClient(store ? { ...options, store: this.#store } : options);
  }

  async #respond(url: string, ifNoneMatch: string | undefined): Promise<Response> {
    await this.#held;
    const { origin, pathname } = new URL(url);
    const script = this.#answers.get(origin) ?? { kind: 'file', file: 0, etag: true, maxAge: undefined };
    switch (script.kind) {
      case 'broken':
        throw Object.assign(new TypeError('fetch failed'), { code: 'ECONNREFUSED' });
      case 'status':
        return new Response(null, {
          status: script.status,
          headers: script.retryAfter === undefined ? {} : { 'retry-after': script.retryAfter },
        });
      case 'redirect':
        return pathname === '/robots.txt'
          ? new Response(null, { status: 302, headers: { location: script.to } })
          : new Response(FILES[1]);
      case 'file': {
        const etag = `"${script.file}"`;
        const fields: Record<string, string> = {};
        if (script.etag) fields['etag'] = etag;
        if (script.maxAge !== undefined) fields['cache-control'] = `max-age=${script.maxAge}`;
        const isKnown = script.etag && ifNoneMatch === etag;
        return new Response(isKnown ? null : FILES[script.file], {
          status: isKnown ? 304 : 200,
          headers: fields,
        });
      }
    }
  }
}
