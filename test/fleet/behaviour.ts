import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DAY, HOUR, SECOND } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { describeWith } from '../support/installed.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { quietEnv } from '../support/sqlite.ts';
import { type CompiledScript, compileScript, startWorker, type Worker } from '../support/workers.ts';
import type { MemberOptions, MemberReport } from './member.ts';
import { RULES, type Sites, startSites } from './sites.ts';

const MEMBERS = 4;

let script: CompiledScript;
let sites: Sites | undefined;
const members = new Set<Worker>();

type Place = Pick<MemberOptions, 'store' | 'where'>;

/** Processes that are ready to be told URLs. They differ in the version that they say they are, and by 30 s in time. */
async function startMembers(
  count: number,
  place: Place,
  others: Partial<MemberOptions> = {},
  first = 0,
): Promise<Worker[]> {
  const started = Array.from({ length: count }, (_, index) =>
    startWorker(
      script,
      [
        JSON.stringify({
          ...place,
          agent: `ExampleBot/${first + index}`,
          laterMs: index * 30 * SECOND,
          ...others,
        } satisfies MemberOptions),
      ],
      { env: quietEnv },
    ),
  );
  for (const member of started) members.add(member);
  for (const member of started) expect(await member.next()).toBe('ready');
  return started;
}

const reportOf = async (member: Worker): Promise<MemberReport> => (await member.next()) as MemberReport;
const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

/** What the members of a fleet owe each other and the sites, wherever they keep what they know. */
function fleetBehaviour(origins: number, placeOf: () => Place): void {
  beforeAll(() => {
    script = compileScript(new URL('member.ts', import.meta.url));
  });

  afterAll(() => script[Symbol.dispose]());

  afterEach(async () => {
    for (const member of members) await member.kill();
    members.clear();
    await sites?.[Symbol.asyncDispose]();
  });

  it(`${MEMBERS} processes whose clocks differ ask each of ${origins} cold origins once, and end by themselves`, async () => {
    const asked = (sites = await startSites());
    const fleet = await startMembers(MEMBERS, placeOf());
    const urls = range(origins).map((number) => asked.url(number, number % 2 === 0 ? '/private' : '/page'));
    for (const member of fleet) member.send(urls);
    const reports = await Promise.all(fleet.map(reportOf));
    expect(asked.asked.length).toBe(origins);
    expect(new Set(asked.asked.map(({ host }) => host)).size).toBe(origins);
    expect(reports.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(origins);
    expect(reports.flatMap(({ events }) => events)).toEqual([]);
    const expected = urls.map((_, index) => index % 2 === 1);
    for (const { decisions } of reports) expect(decisions.map(({ allowed }) => allowed)).toEqual(expected);
    for (const member of fleet) member.end();
    for (const member of fleet) expect(await member.ended()).toEqual({ code: 0, stderr: '' });
  }, 180_000);

  it(
    'when one is killed the others do its work when its leases have run out',
    { timeout: 60_000 },
    async () => {
      const isVictim = ({ userAgent }: { userAgent: string }): boolean => userAgent === 'ExampleBot/0';
      // Whatever the one asks for never comes.
      const asked = (sites = await startSites((each) => (isVictim(each) ? undefined : { body: RULES })));
      // Only of the victim is anything waited for, the rest of its leases.
      const [victim] = await startMembers(1, placeOf(), { deadlineMs: SECOND });
      const others = await startMembers(MEMBERS - 1, placeOf(), {}, 1);
      const urls = range(100).map((number) => asked.url(number, '/private'));
      victim!.send(urls);
      // On a busy machine the others would be done with all of them before.
      await eventually(() => expect(asked.asked.some(isVictim)).toBe(true));
      for (const member of others) member.send([...urls.slice(50), ...urls.slice(0, 50)]);
      await victim!.kill();
      const reports = await Promise.all(others.map(reportOf));
      for (const { decisions, events } of reports) {
        expect(decisions.map(({ allowed }) => allowed)).toEqual(urls.map(() => false));
        expect(events).toEqual([]);
      }
      // Those it was asking are asked once more, all others once.
      const byVictim = asked.asked.filter(isVictim).map(({ host }) => host);
      expect(new Set(byVictim).size).toBe(byVictim.length);
      const byOthers = asked.asked.filter((each) => !isVictim(each)).map(({ host }) => host);
      expect([byOthers.length, new Set(byOthers).size]).toEqual([urls.length, urls.length]);
    },
  );

  it('a copy that one process learnt serves the next under a 503', { timeout: 60_000 }, async () => {
    const answers = [{ body: RULES }, { status: 503 }];
    const asked = (sites = await startSites(() => answers.shift() ?? { status: 503 }));
    const urls = ['/private', '/page'].map((path) => asked.url(0, path));
    const inLife = async (laterMs: number): Promise<MemberReport> => {
      const [member] = await startMembers(1, placeOf(), { laterMs });
      member!.send(urls);
      const report = await reportOf(member!);
      member!.end();
      expect(await member!.ended()).toEqual({ code: 0, stderr: '' });
      return report;
    };
    const first = await inLife(0);
    expect(first.decisions).toEqual([
      { allowed: false, state: 'rules', source: 'network' },
      { allowed: true, state: 'rules', source: 'network' },
    ]);
    const second = await inLife(DAY + HOUR);
    expect(second.decisions.map(({ allowed, state }) => [allowed, state])).toEqual([
      [false, 'last-good'],
      [true, 'last-good'],
    ]);
    expect([second.attempts, asked.asked.length]).toEqual([1, 2]);
    // What the second one learnt, that the site is down, the third has from the store.
    const third = await inLife(DAY + HOUR);
    expect(third.decisions.map(({ allowed, source }) => [allowed, source])).toEqual([
      [false, 'store'],
      [true, 'store'],
    ]);
    expect(asked.asked.length).toBe(2);
  });
}

/** A fleet of processes that share one SQLite database. */
export function describeFleetOnSqlite(origins: number): void {
  describe('a fleet on one SQLite', () => {
    let folder: string;

    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'canfetch-sqlite-'));
    });

    afterEach(() => rmSync(folder, { recursive: true }));

    fleetBehaviour(origins, () => ({ store: 'sqlite', where: join(folder, 'robots.sqlite') }));
  });
}

/** A fleet of processes that share one Redis. */
export function describeFleetOnRedis(origins: number, client: 'ioredis' | 'node-redis'): void {
  describeWith('redis-server')(`a fleet on Redis, over ${client}`, () => {
    let server: RedisServer;

    beforeEach(async () => {
      server = await startRedis();
    });

    afterEach(() => server?.stop());

    fleetBehaviour(origins, () => ({ store: client, where: server.url }));
  });
}
