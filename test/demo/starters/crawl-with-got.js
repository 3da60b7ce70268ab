/**
 * Fetches pages with got: `node crawl-with-got.js https://example.com/ https://example.com/private`
 * Needs: npm install canfetch got
 */
import { crawlReport, refusalIn, retryLater, RobotsClient } from 'canfetch';
import { gotHooks } from 'canfetch/got';
import got from 'got';

const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
const report = crawlReport(robots);
// Waits between requests, as the site asks for, and checks every redirect. `retryLater` does what got's retries do.
const polite = got.extend(gotHooks(robots, { pacing: true }), {
  retry: { limit: 0 },
  throwHttpErrors: false,
});
const stopping = new AbortController();
const { signal } = stopping;
process.once('SIGTERM', () => stopping.abort()).once('SIGINT', () => stopping.abort());
const onWait = ({ url, until, cause }) =>
  console.log(`waiting until ${new Date(until).toISOString()} for ${url}: ${cause}`);

async function visit(url) {
  try {
    // A limit of got for the whole request would count the wait for the site, too: these count for the request alone.
    const timeout = { connect: 10_000, response: 20_000 };
    const response = await retryLater(() => polite(url, { signal, timeout }), { signal, onWait });
    console.log(`${response.ok ? 'fetched' : `status ${response.statusCode}`} ${url}`);
  } catch (error) {
    const refusal = refusalIn(error); // undefined: the request itself failed
    if (refusal !== undefined) console.log(`refused ${refusal.message}`);
    else if (!signal.aborted) console.log(`failed ${url}: ${error.message}`);
  }
}

await Promise.all(process.argv.slice(2).map(visit));
console.log(`\n${report}`);
report.close();
await robots.close();
