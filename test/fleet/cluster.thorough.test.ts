import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { SECOND } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { describeWith } from '../support/installed.ts';
import { type RedisServer, type RedisShards, startRedisShards } from '../support/redis-server.ts';
import { type CompiledScript, compileScript, startWorker, type Worker } from '../support/workers.ts';
import type { MemberOptions, MemberReport } from './member.ts';
import { type Sites, startSites } from './sites.ts';

const MEMBERS = 4;
const ORIGINS = 200;
/** What a member has under way at most. */
const CONCURRENCY = 32;

describeWith('redis-server')('four processes crawl over a Redis Cluster of three masters', () => {
  let script: CompiledScript;
  let shards: RedisShards;
  let sites: Sites;
  let fleet: Worker[] = [];

  beforeAll(() => {
    script = compileScript(new URL('member.ts', import.meta.url));
  });

  afterAll(() => script[Symbol.dispose]());

  beforeEach(async () => {
    shards = await startRedisShards(3);
    sites = await startSites();
  }, 60_000);

  afterEach(async () => {
    for (const member of fleet) await member.kill();
    await sites[Symbol.asyncDispose]();
    await shards[Symbol.asyncDispose]();
  });

  async function startFleet(aheadMs: (index: number) => number = () => 0): Promise<void> {
    fleet = Array.from({ length: MEMBERS }, (_, index) => {
      const options: MemberOptions = {
        agent: `ExampleBot/${index}`,
        store: 'ioredis-cluster',
        where: shards.masters[1]!.url,
        deadlineMs: 10 * SECOND,
        aheadMs: aheadMs(index),
      };
      return startWorker(script, [JSON.stringify(options)]);
    });
    for (const member of fleet) expect(await member.next()).toBe('ready');
  }

  /** All members ask about all origins, while `meanwhile` happens. Even ones forbid what they are asked. */
  async function crawl(meanwhile: () => Promise<void>): Promise<readonly MemberReport[]> {
    const urls = Array.from({ length: ORIGINS }, (_, number) =>
      sites.url(number, number % 2 === 0 ? '/private' : '/page'),
    );
    for (const member of fleet) member.send(urls);
    await meanwhile();
    const reports = await Promise.all(fleet.map(async (member) => (await member.next()) as MemberReport));
    const expected = urls.map((_, index) => index % 2 === 1);
    for (const { decisions } of reports) expect(decisions.map(({ allowed }) => allowed)).toEqual(expected);
    const asked = new Set(sites.asked.map(({ host }) => host));
    expect(asked.size).toBe(ORIGINS);
    return reports;
  }

  const aQuarterIsAsked = (): Promise<void> =>
    eventually(() => expect(sites.asked.length).toBeGreaterThan(ORIGINS / 4));

  /** How often the origins were asked for whose records this node has. */
  async function countsOn(node: RedisServer): Promise<number[]> {
    const names = ((await node.command('KEYS', '*:record:*}')) as string[]).join(' ');
    const numbers = [...names.matchAll(/site-(\d+)\.example/g)].map(([, number]) => Number(number));
    expect(numbers.length).toBeGreaterThan(ORIGINS / 6);
    return numbers.map((number) => sites.count(number));
  }

  it('a master dies and its replica takes over', { timeout: 120_000 }, async () => {
    await startFleet();
    await crawl(async () => {
      await aQuarterIsAsked();
      await shards.masters[0]!.kill();
    });
    await eventually(async () =>
      expect(String(await shards.replica.command('INFO', 'replication'))).toContain('role:master'),
    );
    // A master answers before its replica has heard: of what it held the leases and records of its last moment may be
    // lost, at most what the members had under way. The rest, and all that is on the other nodes, is asked for once.
    expect(sites.asked.length).toBeLessThanOrEqual(ORIGINS + MEMBERS * CONCURRENCY);
    for (const node of shards.masters.slice(1)) {
      const counts = await countsOn(node);
      expect(counts).toEqual(counts.map(() => 1));
    }
  });

  it('a master without a replica dies and comes back empty', { timeout: 120_000 }, async () => {
    await startFleet();
    const [, lost] = shards.masters;
    await crawl(async () => {
      await aQuarterIsAsked();
      await lost!.kill();
      await lost!.restart();
    });
    // What it held is lost, and calls that fail in a row leave the other nodes alone, too, for 3 s.
    expect(sites.asked.length).toBeLessThanOrEqual(ORIGINS + (MEMBERS - 1) * Math.ceil(ORIGINS / 2));
  });

  it(
    'without trouble, and with clocks up to 90 s apart, each origin is asked once',
    { timeout: 60_000 },
    async () => {
      await startFleet((index) => index * 30 * SECOND);
      const reports = await crawl(async () => undefined);
      expect(sites.asked.length).toBe(ORIGINS);
      // A record from a clock that is ahead is not taken for one from the future.
      expect(reports.flatMap(({ events }) => events)).toEqual([]);
    },
  );
});
