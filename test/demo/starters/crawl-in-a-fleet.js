/**
 * Crawls with any number of processes and machines, over one Redis:
 * `REDIS_URL=redis://127.0.0.1:6379 node crawl-in-a-fleet.js https://example.com/` adds the URLs and works on all that
 * are there; without URLs it only works. SIGTERM ends it.
 * Needs: npm install canfetch bullmq cheerio ioredis
 */
import { DelayedError, Queue, UnrecoverableError, Worker } from 'bullmq';
import { crawlReport, guardFetch, refusalIn, retryAtOf, RobotsClient } from 'canfetch';
import { redisStore } from 'canfetch/redis';
import { load } from 'cheerio';
import { Redis } from 'ioredis';

const MAX_DEPTH = 3;
const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const connection = new Redis(url, { maxRetriesPerRequest: null }).on('error', console.error);

// All processes share what they know of robots.txt, and one pace for each site.
const robots = new RobotsClient({
  agent: 'ExampleBot/1.0 (+https://example.com/bot)',
  store: redisStore(connection),
});
const report = crawlReport(robots);
const fetchPolitely = guardFetch(fetch, robots, { pacing: true });
const stopping = new AbortController();

const pages = new Queue('pages', { connection });
// A job is named by its URL, so that no page is added twice. Failures of the network are tried again.
const add = (page, depth) =>
  pages.add('page', { page, depth }, { jobId: encodeURIComponent(page), attempts: 3, backoff: 5_000 });

async function visit(job, token) {
  const { page, depth } = job.data;
  const outcome = await fetchPolitely(page, { signal: stopping.signal }).catch((error) => error);
  // "Not now" (a busy page, a pause, robots.txt that cannot be reached) comes back at its time, in any process.
  const isStopped = stopping.signal.aborted && outcome instanceof Error;
  const retryAt = isStopped ? Date.now() : retryAtOf(outcome);
  if (retryAt !== undefined) {
    await outcome.body?.cancel();
    await job.moveToDelayed(retryAt, token);
    throw new DelayedError();
  }
  const refusal = refusalIn(outcome);
  if (refusal !== undefined) throw new UnrecoverableError(`refused ${refusal.message}`);
  if (outcome instanceof Error) throw outcome;
  const $ = load(await outcome.text());
  console.log(`fetched ${page}`);
  for (const link of depth < MAX_DEPTH ? $('a[href]') : []) {
    const next = new URL($(link).attr('href'), outcome.url);
    next.hash = '';
    if (next.origin === new URL(page).origin) await add(next.href, depth + 1);
  }
}

for (const page of process.argv.slice(2)) await add(new URL(page).href, 0);
// What a killed process was working on comes back when its lock of 10 s has ended.
const worker = new Worker('pages', visit, {
  connection,
  concurrency: 32,
  lockDuration: 10_000,
  stalledInterval: 5_000,
  maxStalledCount: 10,
})
  .on('failed', (job, error) => console.log(`failed ${job?.data.page}: ${error.message}`))
  .on('error', console.error);

async function stop() {
  stopping.abort();
  await worker.close(); // waits for the jobs that it works on
  await pages.close();
  console.log(`\n${report}`);
  report.close();
  await robots.close();
  await connection.quit();
}
process.once('SIGTERM', stop).once('SIGINT', stop);
