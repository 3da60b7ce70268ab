import { describe, expect, it } from 'vitest';
import { type ProfileName, profiles } from '../../../src/index.ts';
import type { TimelineEvent } from '../../../src/apps/answers/schema/policy.ts';
import { timeline } from '../../../src/apps/answers/timeline.ts';
import { DAY, HOUR, MINUTE, SECOND, START, testClient } from '../../support/client.ts';

const RULES = 'User-agent: *\nDisallow: /private\n';
const PAGE = 'https://example.com/page';

/** A client whose origin answers so, one attempt after the other, and what the service tells of it. */
function origin(profile: ProfileName, ...answers: readonly (Response | number)[]) {
  const next = [...answers];
  const fetch = async (): Promise<Response> => {
    const answer = next.shift() ?? 503;
    return typeof answer === 'number' ? new Response(answer === 304 ? null : '', { status: answer }) : answer;
  };
  const { client, clock } = testClient({ profile, transport: { fetch } });
  const events = async (): Promise<TimelineEvent[]> => timeline(await client.policy(PAGE), profiles[profile]);
  return { client, clock, events };
}

const rules = (headers: Record<string, string> = {}): Response => new Response(RULES, { headers });

describe('the timeline of an origin', () => {
  it('with an answer: its time and status, the refresh, and the end of its lifetime', async () => {
    expect(await origin('rfc9309', rules()).events()).toEqual([
      { at: START, event: 'answered', detail: 'status 200' },
      { at: START + 0.9 * DAY, event: 'refresh-ahead' },
      { at: START + DAY, event: 'stale' },
    ]);
  });

  it('says why it expires before its lifetime', async () => {
    const fetch = async (): Promise<Response> => rules();
    const { client } = testClient({ transport: { fetch }, random: () => 0.8 });
    const policy = await client.policy(PAGE);
    expect(timeline(policy, profiles.rfc9309).at(-1)).toMatchObject({
      event: 'stale',
      detail: '2 h early, so that many do not expire together',
    });
  });

  it('with a 404: the same', async () => {
    expect(await origin('rfc9309', 404).events()).toEqual([
      { at: START, event: 'answered', detail: 'status 404' },
      { at: START + 0.9 * DAY, event: 'refresh-ahead' },
      { at: START + DAY, event: 'stale' },
    ]);
  });

  it('with a 304: the time of the confirmation', async () => {
    const { clock, events } = origin('rfc9309', rules({ etag: '"1"' }), 304);
    await events();
    clock.advance(DAY);
    expect((await events())[0]).toEqual({ at: START + DAY, event: 'confirmed', detail: 'status 304' });
  });

  it('with a failure and a copy: the copy, the failures, and the next attempt', async () => {
    const { clock, events } = origin('rfc9309', rules(), 500, 502);
    await events();
    clock.advance(DAY);
    expect(await events()).toEqual([
      { at: START, event: 'answered' },
      { at: START + DAY, event: 'stale' },
      { at: START + DAY, event: 'first-failure', detail: 'status 500' },
      { at: START + DAY + 30 * SECOND, event: 'retry' },
    ]);
    clock.advance(MINUTE);
    expect((await events()).slice(2)).toEqual([
      { at: START + DAY, event: 'first-failure' },
      { at: START + DAY + MINUTE, event: 'last-failure', detail: 'status 502, 2 in a row' },
      { at: START + DAY + 2 * MINUTE, event: 'retry' },
    ]);
  });

  it('with a failure and no copy: the phases that change the state, and no others', async () => {
    const phases = async (profile: ProfileName, ...answers: Response[]): Promise<TimelineEvent[]> => {
      const { clock, events } = origin(profile, ...answers);
      if (answers.length > 0) {
        await events();
        clock.advance(DAY);
      }
      return (await events()).filter(({ event }) => event === 'phase');
    };
    expect(await phases('rfc9309')).toEqual([{ at: START + 30 * DAY, event: 'phase', detail: 'allow-all' }]);
    expect(await phases('google')).toEqual([
      { at: START + 12 * HOUR, event: 'phase', detail: 'allow-all' },
      { at: START + 30 * DAY, event: 'phase', detail: 'disallow-all' },
    ]);
    expect(await phases('koster-1996')).toEqual([]);
    // With a copy it serves before and after the 30 days of RFC 9309: nothing changes.
    expect(await phases('rfc9309', rules())).toEqual([]);
    expect((await phases('google', rules()))[0]).toEqual({
      at: START + DAY + 12 * HOUR,
      event: 'phase',
      detail: 'last-good',
    });
  });

  it('with a name that does not resolve: the error code', async () => {
    const { client } = testClient({
      transport: { fetch: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })) },
    });
    const events = timeline(await client.policy(PAGE), profiles.rfc9309);
    expect(events[0]).toEqual({ at: START, event: 'first-failure', detail: 'ENOTFOUND' });
  });

  it.each([
    [true, 'reachable'],
    [false, 'not reachable'],
  ])('with a site signal (%s), in order of time', async (reachable, detail) => {
    const { client, clock, events } = origin('rfc9309', rules());
    await events();
    clock.advance(MINUTE);
    client.report(PAGE, { reachable });
    expect((await events()).slice(0, 2)).toEqual([
      { at: START, event: 'answered', detail: 'status 200' },
      { at: START + MINUTE, event: 'site', detail },
    ]);
  });
});
