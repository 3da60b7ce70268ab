/**
 * Crawls with any number of processes and machines, over one Redis: `node crawl-in-a-fleet.js https://example.com/` adds
 * the URL and works on all that are there; without a URL it only works. `REDIS_URL` names the server; SIGTERM ends it.
 * Needs: npm install canfetch bullmq cheerio ioredis
 */
import { DelayedError, Queue, Worker } from 'bullmq';
import { crawlReport, guardFetch, refusalIn, retryAtOf, RobotsClient } from 'canfetch';
import { redisStore } from 'canfetch/redis';
import { load } from 'cheerio';
import { Redis } from 'ioredis';

const MAX_PAGES_OF_A_HOST = 100;
const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const redis = new Redis(url, { maxRetriesPerRequest: null }).on('error', console.error);

// All processes share what they know of robots.txt, and one pace for each site.
const agent = 'ExampleBot/1.0 (+https://example.com/bot)';
const robots = new RobotsClient({ agent, store: redisStore(redis) });
const report = crawlReport(robots);
// A longer wait is spent in Redis, so that no slow site takes the place of another.
const fetchPolitely = guardFetch(fetch, robots, { pacing: { maxDelayMs: 1_000 }, timeoutMs: 30_000 });
const stopping = new AbortController();

// A job for each host. The pages that are left wait in a list, the one that is being visited in front.
const hosts = new Queue('hosts', { connection: redis });
const ended = { removeOnComplete: true, removeOnFail: true };
const work = (host, delay = 0) =>
  hosts.add('visit', { host }, { jobId: encodeURIComponent(host), delay, ...ended });

async function add(page) {
  const { host } = new URL(page);
  if ((await redis.scard(`seen:${host}`)) >= MAX_PAGES_OF_A_HOST) return;
  if ((await redis.sadd(`seen:${host}`, page)) === 0) return;
  await redis.rpush(`left:${host}`, page);
}

async function visit(job, token) {
  const left = `left:${job.data.host}`;
  const page = await redis.lindex(left, 0);
  if (page === null) return; // ends the job
  const outcome = await fetchPolitely(page, { signal: stopping.signal }).catch((error) => error);
  // "Not now" (a busy page, a pause, robots.txt that cannot be reached) comes back at its time, in any process.
  const retryAt = stopping.signal.aborted ? Date.now() : retryAtOf(outcome);
  if (retryAt === undefined) {
    await read(page, outcome).catch((error) => console.log(`failed ${page}: ${error.cause ?? error}`));
    await redis.lrem(left, 1, page);
  } else {
    console.log(`later ${page}: ${refusalIn(outcome)?.message ?? outcome.status ?? outcome.message}`);
    await outcome.body?.cancel();
  }
  const { pacing } = await robots.policy(page);
  await job.moveToDelayed(retryAt ?? pacing?.nextAt ?? Date.now(), token);
  throw new DelayedError();
}

async function read(page, response) {
  const refusal = refusalIn(response);
  if (refusal !== undefined) return console.log(`refused ${refusal.message}`);
  if (response instanceof Error) throw response;
  const type = response.headers.get('content-type') ?? '';
  if (!response.ok || !/^(text\/html|application\/xhtml)/i.test(type)) {
    await response.body?.cancel(); // a body that is not read would hold up the next page
    return console.log(`${response.ok ? `no HTML (${type})` : `status ${response.status}`} ${page}`);
  }
  const $ = load(await response.text());
  console.log(`fetched ${page}`);
  for (const link of $('a[href]')) {
    const href = $(link).attr('href');
    if (!URL.canParse(href, response.url)) continue;
    const next = new URL(href, response.url);
    next.hash = '';
    if (next.host === new URL(page).host) await add(next.href);
  }
}

// What a killed process was working on comes back when its lock of 10 s has ended.
const lock = { lockDuration: 10_000, stalledInterval: 5_000, maxStalledCount: 10 };
const worker = new Worker('hosts', visit, { connection: redis, concurrency: 32, ...lock });
// A page may have come while the job of its host ended.
const again = async (job, delay) => {
  if (job !== undefined && (await redis.llen(`left:${job.data.host}`)) > 0) await work(job.data.host, delay);
};
worker.on('error', console.error);
worker.on('completed', (job) => again(job, 0).catch(console.error));
worker.on('failed', (job, error) => again(job, 1_000).then(() => console.error(error), console.error));

async function stop() {
  setTimeout(() => process.exit(1), 4_000).unref(); // Redis may be gone
  stopping.abort();
  await worker.close(); // waits for the jobs that it works on
  await hosts.close();
  console.log(`\n${report}`);
  report.close();
  await robots.close();
  await redis.quit();
}
process.once('SIGTERM', stop).once('SIGINT', stop);
for (const page of process.argv.slice(2)) await add(new URL(page).href);
// The hosts of these, and those that a crash left. A host that has a job gets no other.
for await (const keys of redis.scanStream({ match: 'left:*' })) {
  for (const key of keys) await work(key.slice('left:'.length));
}
