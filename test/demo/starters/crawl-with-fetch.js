/**
 * Crawls sites with fetch, p-queue and cheerio: `node crawl-with-fetch.js https://example.com/`
 * Needs: npm install canfetch cheerio p-queue
 */
import { crawlReport, guardFetch, refusalIn, retryLater, RobotsClient } from 'canfetch';
import { load } from 'cheerio';
import PQueue from 'p-queue';

const MAX_PAGES = 100;
const starts = process.argv.length > 2 ? process.argv.slice(2) : ['https://example.com/'];
const origins = new Set(starts.map((url) => new URL(url).origin));

const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
const report = crawlReport(robots);
// Waits between requests, as the site asks for, and checks every redirect.
const fetchPolitely = guardFetch(fetch, robots, { pacing: true });
// One queue a host: pages of a slow host would fill a queue for all.
const queues = new Map([...origins].map((origin) => [origin, new PQueue({ concurrency: 4 })]));
const seen = new Set();
const visits = [];

function add(url) {
  const queue = queues.get(new URL(url).origin);
  if (queue === undefined || seen.has(url) || seen.size >= MAX_PAGES) return;
  seen.add(url);
  // "Not now" (the site is busy or pauses, or robots.txt cannot be reached) comes back later. It waits outside of the queue.
  const responded = retryLater(() => queue.add(() => fetchPolitely(url)));
  visits.push(responded.then((response) => read(url, response)).catch((error) => explain(url, error)));
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
  console.log(
    refusal === undefined ? `failed ${url}: ${error.cause ?? error}` : `refused ${refusal.message}`,
  );
}

for (const url of starts) add(new URL(url).href);
for (const visited of visits) await visited; // grows while the crawl goes on
console.log(`\n${report}`);
report.close();
await robots.close();
