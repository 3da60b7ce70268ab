/**
 * Crawls a site with fetch, p-queue and cheerio: `node crawl-with-fetch.js https://example.com/`
 * Needs: npm install canfetch cheerio p-queue
 */
import { guardFetch, refusalIn, crawlReport, RobotsClient } from 'canfetch';
import { load } from 'cheerio';
import PQueue from 'p-queue';

const MAX_PAGES = 100;
const [start = 'https://example.com/'] = process.argv.slice(2);
const { origin } = new URL(start);

const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
const account = crawlReport(robots);
// Waits between requests, as the site asks for, and checks every redirect.
const fetchPolitely = guardFetch(fetch, robots, { pacing: true });
const queue = new PQueue({ concurrency: 8 });
const seen = new Set();

function add(url) {
  if (seen.has(url) || seen.size >= MAX_PAGES) return;
  seen.add(url);
  void queue.add(() => visit(url));
}

async function visit(url) {
  try {
    const response = await fetchPolitely(url);
    const $ = load(await response.text());
    console.log(`fetched ${url}`);
    for (const link of $('a[href]')) {
      const next = new URL($(link).attr('href'), response.url);
      next.hash = '';
      if (next.origin === origin) add(next.href);
    }
  } catch (error) {
    const refusal = refusalIn(error); // undefined: the request itself failed
    console.log(refusal === undefined ? `failed ${url}: ${error}` : `refused ${refusal.message}`);
    // Where robots.txt cannot be reached the answer is "not now".
    if (refusal?.retryAt !== undefined)
      console.log(`  again after ${new Date(refusal.retryAt).toISOString()}`);
  }
}

add(new URL(start).href);
await queue.onIdle();
console.log(`\n${account}`);
account.close();
await robots.close();
