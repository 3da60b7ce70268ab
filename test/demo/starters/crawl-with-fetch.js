/**
 * Crawls sites with fetch, p-queue and cheerio: `node crawl-with-fetch.js https://example.com/`
 * What is left when it ends early stands in `crawl.txt`; the same command then goes on with it.
 * Needs: npm install canfetch cheerio p-queue
 */
import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { crawlReport, guardFetch, refusalIn, retryLater, RobotsClient } from 'canfetch';
import { load } from 'cheerio';
import PQueue from 'p-queue';

const MAX_PAGES = 100;
const FILE = process.env.CRAWL_FILE ?? 'crawl.txt';
const starts = process.argv.slice(2).map((url) => new URL(url).href);

const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
const report = crawlReport(robots);
// Waits between requests, as the site asks for, and checks every redirect.
const fetchPolitely = guardFetch(fetch, robots, { pacing: true, timeoutMs: 30_000 });
// One queue a host: pages of a slow host would fill a queue for all.
const queues = new Map(starts.map((url) => [new URL(url).origin, new PQueue({ concurrency: 4 })]));
const stopping = new AbortController();
const { signal } = stopping;
process.once('SIGTERM', () => stopping.abort()).once('SIGINT', () => stopping.abort());
const seen = new Set();
const visits = [];

function add(url) {
  const queue = queues.get(new URL(url).origin);
  if (queue === undefined || seen.has(url) || seen.size >= MAX_PAGES) return;
  seen.add(url);
  appendFileSync(FILE, `left ${url}\n`);
  // "Not now" (the site is busy or pauses, or robots.txt cannot be reached) comes back later. It waits outside of the queue.
  const onWait = ({ until, cause }) =>
    console.log(`waiting until ${new Date(until).toISOString()}: ${cause}`);
  const responded = retryLater(() => queue.add(() => fetchPolitely(url, { signal })), { signal, onWait });
  const visited = responded.then((response) => read(url, response)).catch((error) => explain(url, error));
  visits.push(visited.then(() => signal.aborted || appendFileSync(FILE, `done ${url}\n`)));
}

async function read(url, response) {
  const type = response.headers.get('content-type') ?? '';
  if (!response.ok || !/^(text\/html|application\/xhtml)/i.test(type)) {
    await response.body?.cancel(); // a body that is not read would hold up the next page
    return console.log(`${response.ok ? `no HTML (${type})` : `status ${response.status}`} ${url}`);
  }
  const $ = load(await response.text());
  console.log(`fetched ${url}`);
  for (const link of $('a[href]')) {
    const href = $(link).attr('href');
    if (!URL.canParse(href, response.url)) continue;
    const next = new URL(href, response.url);
    next.hash = '';
    add(next.href);
  }
}

function explain(url, error) {
  const refusal = refusalIn(error); // undefined: the request itself failed
  if (refusal !== undefined) console.log(`refused ${refusal.message}`);
  else if (!signal.aborted) console.log(`failed ${url}: ${error.cause ?? error}`);
}

appendFileSync(FILE, '');
const noted = readFileSync(FILE, 'utf8')
  .split('\n')
  .map((line) => line.split(' '));
for (const [state, url] of noted) if (state === 'done') seen.add(url);
for (const [state, url] of noted) if (state === 'left') add(url);
for (const url of starts) add(url);
for (const visited of visits) await visited; // grows while the crawl goes on
if (!signal.aborted) rmSync(FILE, { force: true });
console.log(`\n${report}`);
report.close();
await robots.close();
