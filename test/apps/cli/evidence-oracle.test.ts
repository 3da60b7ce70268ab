import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SeenRequest } from '../../extras/evidence/recorded-crawl.ts';
import { folderForAll, openedForAll, siteForAll } from '../../support/opened.ts';
import { compileScript, startWorker } from '../../support/workers.ts';
import { cli, records } from './session.ts';

/** A request as its server saw it. */
interface ServedRequest {
  readonly url: string;
  readonly agent: string;
  /** What it came for, which the crawler says for this test. */
  readonly purpose: string;
  /** 0: the connection was closed without a response. */
  status: number;
  isCut: boolean;
}

/** A site with its own log. */
interface LoggingSite {
  readonly origin: string;
  readonly log: readonly ServedRequest[];
}

async function loggingSite(robotsStatus: number, robotsTxt = ''): Promise<LoggingSite> {
  const log: ServedRequest[] = [];
  const { origin } = await siteForAll((request, response) => {
    const { url: path = '', headers } = request;
    const agent = String(headers['user-agent']);
    const purpose = String(headers['x-purpose'] ?? '');
    const entry: ServedRequest = { url: origin + path, agent, purpose, status: 200, isCut: false };
    log.push(entry);
    if (path === '/lost') {
      entry.status = 0;
      return void request.socket.destroy();
    }
    if (path === '/robots.txt') entry.status = robotsStatus;
    else if (path === '/missing') entry.status = 404;
    else if (path === '/old') entry.status = 302;
    const location = path === '/old' ? { location: '/new' } : {};
    const usage = path === '/own' ? { 'content-usage': 'train-ai=n' } : {};
    response.writeHead(entry.status, { ...location, ...usage });
    if (path.startsWith('/cut')) {
      entry.isCut = true;
      response.write('the beginning');
      return void setTimeout(() => request.socket.destroy(), 50);
    }
    response.end(path === '/robots.txt' ? robotsTxt : 'a page');
  });
  return { origin, log };
}

const FORBIDS = 'User-agent: *\nDisallow: /private\nContent-Usage: /art train-ai=n\n';
const AGENTS = ['FirstBot', 'SecondBot'];

const sorted = (texts: Iterable<string>): string[] => [...texts].sort();
const tally = (texts: Iterable<string>): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const text of sorted(texts)) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
};

const folder = folderForAll();
const file = join(folder, 'evidence.ndjson');
const script = openedForAll(
  compileScript(new URL('../../extras/evidence/recorded-crawl.ts', import.meta.url)),
);
const open = await loggingSite(200, FORBIDS);
const slow = await loggingSite(200, 'User-agent: *\nCrawl-delay: 60\n');
const broken = await loggingSite(503);
// One for each process: they share no schedule.
const polite = await Promise.all(AGENTS.map(() => loggingSite(200, 'User-agent: *\nCrawl-delay: 0.5\n')));

describe('the evidence of a crawl by two processes, beside the logs of the servers', () => {
  let served: ServedRequest[];
  const seen: (SeenRequest & { readonly agent: string })[] = [];
  type Row = Record<string, unknown> & { url: string; outcome: string; request?: Record<string, unknown> };
  let rows: Row[];

  beforeAll(async () => {
    const workers = AGENTS.map((agent, at) => {
      const origins = [open, slow, broken, polite[at]!].map(({ origin }) => origin);
      return startWorker(script, [file, ...origins, agent]);
    });
    for (const [at, worker] of workers.entries()) {
      const agent = AGENTS[at]!;
      for (const one of (await worker.next()) as SeenRequest[]) seen.push({ ...one, agent });
      expect(await worker.ended()).toEqual({ code: 0, stderr: expect.any(String) });
    }
    served = [open, slow, broken, ...polite].flatMap(({ log }) =>
      log.filter(({ url }) => !url.endsWith('/robots.txt')),
    );
    const listed = await cli(['replay', '--list', '--json', file]);
    expect([listed.code, listed.stderr]).toEqual([0, '']);
    rows = records(listed.stdout) as Row[];
  }, 60_000);

  it('replays as recorded, unzipped or not', async () => {
    const zipped = join(folder, 'evidence.ndjson.gz');
    writeFileSync(zipped, gzipSync(readFileSync(file)));
    for (const path of [file, zipped]) {
      const { code, stdout } = await cli(['replay', path]);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/ of 2 runs: all as recorded\n$/)]);
    }
    writeFileSync(zipped, readFileSync(zipped).subarray(0, 500));
    expect(await cli(['replay', zipped])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('whole gzip file'),
    });
  });

  it('lists each request that a server saw, once, with its status, and no other', () => {
    const requested = rows.filter(({ request }) => request?.['type'] === 'request');
    expect(requested.length).toBeGreaterThan(40);
    expect(tally(requested.map(({ url, request }) => `${url} ${String(request?.['status'] ?? 0)}`))).toEqual(
      tally(served.map(({ url, status }) => `${url} ${status}`)),
    );
    // None without the decision that it rests on, or the caller's reason.
    expect(rows.filter(({ decision }) => decision === 'no decision')).toEqual([]);
  });

  it('says of the rest why they were not sent, as their callers were told', () => {
    const refused = rows.filter(({ outcome }) => outcome === 'not requested: refused');
    const told = (code: RegExp) => seen.filter(({ outcome }) => code.test(outcome));
    // A response that was refused by its header fields was requested.
    const refusals = told(/_(?:DISALLOWED|UNREACHABLE|USAGE)$/).filter(({ url }) => !url.endsWith('/own'));
    expect(tally(refused.map(({ url, agent }) => `${url} ${String(agent)}`))).toEqual(
      tally(refusals.map(({ url, agent }) => `${url} ${agent}`)),
    );
    const deferred = rows.filter(({ outcome }) => outcome.startsWith('deferred until'));
    const deferrals = told(/_DEFERRED$/);
    expect(deferrals.length).toBeGreaterThan(4);
    expect(sorted(deferred.map(({ url }) => url))).toEqual(sorted(deferrals.map(({ url }) => url)));
    const without = rows.filter(({ outcome }) => outcome === 'no request in the log');
    // The questions.
    expect(without.map(({ url }) => new URL(url).pathname).sort()).toEqual(
      ['/7', '/7', '/private/7'].flatMap((path) => AGENTS.map(() => path)).sort(),
    );
  });

  it('marks each body that a server cut', () => {
    const cut = rows.filter(({ outcome }) => / 200, body cut: \w+$/.test(outcome));
    expect(sorted(cut.map(({ url }) => url))).toEqual(
      sorted(served.filter(({ isCut }) => isCut).map(({ url }) => url)),
    );
    expect(cut.length).toBeGreaterThan(12);
  });

  it('denies nothing that was sent, and says what the file says, with another purpose', async () => {
    const { stdout } = await cli(['replay', '--list', '--json', '--purpose', 'train-ai', file]);
    const asked = records(stdout) as Row[];
    expect(asked.map(({ outcome }) => outcome)).toEqual(rows.map(({ outcome }) => outcome));
    for (const { url, usage } of asked) {
      const says = new URL(url).origin === open.origin && new URL(url).pathname.startsWith('/art');
      if (usage !== undefined)
        expect([url, usage]).toEqual([
          url,
          expect.objectContaining({ preference: says ? 'disallow' : 'unknown' }),
        ]);
    }
  });

  it('accuses of each request that was sent although refused, and of no other', async () => {
    const { code, stdout } = await cli(['replay', '--conduct', '--json', file]);
    const lines = records(stdout);
    const accused = lines.filter(({ kind }) => kind === 'although-refused');
    const guilty = served.filter(
      ({ url, purpose }) =>
        url.startsWith(`${open.origin}/private`) ||
        url.startsWith(broken.origin) ||
        (url.startsWith(`${open.origin}/art`) && purpose === 'train-ai'),
    );
    expect(guilty.length).toBeGreaterThan(8);
    expect(sorted(accused.map(({ url }) => String(url)))).toEqual(sorted(guilty.map(({ url }) => url)));
    expect(code).toBe(1);
    expect(lines.at(-1)).toMatchObject({ requests: served.length, refused: guilty.length, early: 0 });
    const written = readFileSync(file, 'utf8').split('\n');
    for (const { line, url } of accused)
      expect(JSON.parse(written[Number(line) - 1]!)).toMatchObject({ type: 'request', url });
  });

  it('sums up what each server saw of each agent', async () => {
    const { code, stdout } = await cli(['replay', '--summary', '--json', file]);
    const lines = records(stdout);
    const requested = Object.fromEntries(
      lines.map(({ agent, origin, requested: many }) => [`${String(agent)} ${String(origin)}`, many]),
    );
    const counted = tally(served.map(({ agent, url }) => `${agent} ${new URL(url).origin}`));
    expect(requested).toMatchObject(counted);
    expect(code).toBe(0);
    const sum = (name: string): number => lines.reduce((total, line) => total + Number(line[name]), 0);
    expect(sum('requested')).toBe(served.length);
    expect(sum('deferred')).toBe(seen.filter(({ outcome }) => outcome.endsWith('_DEFERRED')).length);
    const { stdout: conduct } = await cli(['replay', '--conduct', '--json', file]);
    expect(sum('requestedAlthoughRefused')).toBe(records(conduct).at(-1)?.['refused']);
    const { stdout: csv } = await cli(['replay', '--summary', '--format', 'csv', file]);
    expect(csv.split('\n')).toHaveLength(lines.length + 2);
    const { stdout: table } = await cli(['replay', '--summary', file]);
    expect(table).toMatch(
      /^agent +origin +allowed +refused +not wanted +deferred +requested +although refused\n/,
    );
  });
});
