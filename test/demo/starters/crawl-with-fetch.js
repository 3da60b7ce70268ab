/**
 * Crawls a site with fetch, p-queue and cheerio: `node crawl-with-fetch.js https://example.com/`
 * Needs: npm install canfetch cheerio p-queue
 */
import { crawlReport, guardFetch, refusalIn, retryLater, RobotsClient } from 'canfetch';
import { load } from 'cheerio';
import PQueue from 'p-queue';

const MAX_PAGES = 100;
const [start = 'https://example.com/'] = process.argv.slice(2);
const { origin } = new URL(start);

const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
const report = crawlReport(robots);
// Waits between requests, as the site asks for, and checks every redirect.
const fetchPolitely = guardFetch(fetch, robots, { pacing: true });
const queue = new PQueue({ concurrency: 8 });
const seen = new Set();
const visits = [];

function add(url) {
  if (seen.has(url) || seen.size >= MAX_PAGES) return;
  seen.add(url);
  // "Not now" (robots.txt cannot be reached, or the site pauses) comes back at `retryAt`. It waits outside of the queue.
  visits.push(retryLater(() => queue.add(() => visit(url))).catch((error) => explain(url, error)));
}

async function visit(url) {
  const response = await fetchPolitely(url);
  const $ = load(await response.text());
  console.log(`fetched ${url}`);
  for (const link of $('a[href]')) {
    const next = new URL($(link).attr('href'), response.url);
    next.hash = '';
    if (next.origin === origin) add(next.href);
  }
}

function explain(url, error) {
  const refusal = refusalIn(error); // undefined: the request itself failed
  console.log(refusal === undefined ? `failed ${url}: ${error}` : `refused ${refusal.message}`);
}

add(new URL(start).href);
for (const visited of visits) await visited; // grows while the crawl goes on
console.log(`\n${report}`);
report.close();
await robots.close();
