import { describe, expect, it } from 'vitest';
import type { Decision, RobotsClientOptions } from '../../../src/index.ts';
import { profiles } from '../../../src/index.ts';
import { DAY, HOUR, MINUTE, type TestClient, testClient, VirtualClock } from '../../support/client.ts';
import type { Answer } from '../../support/site.ts';
import { ScriptedStore } from '../../support/store.ts';
import { answering, opened } from '../../support/opened.ts';

function client(options?: RobotsClientOptions): TestClient {
  const made = testClient(options);
  opened(made.client);
  return made;
}

async function setUp(answers: Answer | readonly Answer[], options?: RobotsClientOptions) {
  const { robots, server, clock } = await answering(answers, options);
  return { client: robots, site: server, clock };
}

const RULES = 'User-agent: *\nDisallow: /x\n';
/** Goes on past the 512,000 bytes that are read. */
const LONG: Answer = { body: `${RULES}${'# and so on\n'.repeat(50_000)}Disallow: /y\n` };
const PAGE: Answer = { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Home</title>' };
const CHALLENGE: Answer = { ...PAGE, status: 403, body: '<html><title>Vercel Security Checkpoint</title>' };

/** What a decision says of the file. */
function remarks({ robots: { truncated, suspect } }: Decision): object {
  return { truncated, suspect };
}

const CASES: readonly (readonly [what: string, answer: Answer, expected: object])[] = [
  ['a file within the limit', { body: RULES }, { truncated: undefined, suspect: undefined }],
  ['a file past the limit', LONG, { truncated: true, suspect: undefined }],
  ['a page', PAGE, { truncated: undefined, suspect: 'html' }],
  ['a challenge', CHALLENGE, { truncated: undefined, suspect: 'challenge' }],
];

describe.each(CASES)('decision.robots of %s', (_what, answer, expected) => {
  it('is the same for every caller and question', async () => {
    const { client: robots, site } = await setUp(answer);
    const url = site.url('/y');
    expect(remarks(await robots.check(url))).toEqual(expected);
    expect(remarks(await robots.check(url))).toEqual(expected);
    expect(remarks(robots.peek(url)!)).toEqual(expected);
    expect(remarks(robots.peek(site.url('/robots.txt'))!)).toEqual(expected);
    expect(robots.peek(url)?.robots).toBe(robots.peek(site.url('/z'))?.robots);
    const { truncated, suspect } = (await robots.policy(url)).robots;
    expect({ truncated, suspect }).toEqual(expected);
    expect(site.requests).toHaveLength(1);
  });

  it('is the same from a store', async () => {
    const store = new ScriptedStore({ clock: new VirtualClock() });
    const { client: robots, site } = await setUp(answer, { store });
    await robots.check(site.url('/y'));
    await robots.close();
    const { client: other } = client({ store });
    const decision = await other.check(site.url('/y'));
    expect(decision.robots.source).toBe('store');
    expect(remarks(decision)).toEqual(expected);
    expect(remarks(other.peek(site.url('/y'))!)).toEqual(expected);
    expect(site.requests).toHaveLength(1);
  });
});

describe('decision.robots while an origin fails', () => {
  it('has the truncation of the last good copy, and the suspicion about the failure', async () => {
    const {
      client: robots,
      clock,
      site,
    } = await setUp([LONG, { status: 500 }, { ...CHALLENGE, status: 503 }]);
    await robots.check(site.url('/y'));
    clock.advance(DAY);
    const failing = await robots.check(site.url('/y'));
    expect(failing).toMatchObject({ state: 'last-good', robots: { status: 500, truncated: true } });
    expect(failing.robots).not.toHaveProperty('suspect');
    clock.advance(HOUR);
    expect(await robots.check(site.url('/y'))).toMatchObject({
      state: 'last-good',
      robots: { status: 503, truncated: true, suspect: 'challenge' },
    });
  });

  it('says nothing of a copy whose rules are not in force', async () => {
    const {
      client: robots,
      clock,
      site,
    } = await setUp([LONG, { status: 500 }], {
      profile: { ...profiles.google, robotsRetry: { initialMs: 2 * DAY, maxMs: 2 * DAY } },
    });
    await robots.check(site.url('/y'));
    clock.advance(DAY);
    expect(await robots.check(site.url('/y'))).toMatchObject({ state: 'disallow-all' });
    expect(robots.peek(site.url('/y'))?.robots).not.toHaveProperty('truncated');
    clock.advance(13 * HOUR);
    const later = robots.peek(site.url('/y'));
    expect(later).toMatchObject({ state: 'last-good', robots: { truncated: true } });
    expect(site.requests).toHaveLength(2);
  });
});

describe.each(['rfc9309', 'koster-1996'] as const)(
  'under %s a page that came instead of the file',
  (profile) => {
    it('counts for 10 minutes, and is not renewed ahead of their end', async () => {
      const { client: robots, clock, site } = await setUp([PAGE, { body: RULES }], { profile });
      const url = site.url('/x');
      expect((await robots.check(url)).allowed).toBe(true);
      clock.advance(10 * MINUTE - 1);
      expect((await robots.check(url)).allowed).toBe(true);
      expect(site.requests).toHaveLength(1);
      clock.advance(1);
      expect(await robots.check(url)).toMatchObject({ allowed: false, reason: 'rule' });
      expect((await robots.policy(url)).lifetime?.why).not.toHaveProperty('clampedBy', 'suspect');
    });
  },
);
