/**
 * Visits pages with Chromium: `node visit-with-playwright.js https://example.com/ https://example.com/private`
 * Needs: npm install canfetch playwright, and npx playwright install chromium
 */
import { refusalIn, crawlReport, retryLater, RobotsClient } from 'canfetch';
import { guardContext } from 'canfetch/playwright';
import { chromium } from 'playwright';

const urls = process.argv.slice(2);

const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
const report = crawlReport(robots);
const browser = await chromium.launch();
const context = await browser.newContext();
// Holds each navigation and redirect back until it is decided. `identify` sends the name that robots.txt is asked about.
const guard = await guardContext(context, robots, { identify: true, pacing: { maxDelayMs: 20_000 } });

const stopping = new AbortController();
process.once('SIGTERM', () => {
  stopping.abort();
  context.close().catch(() => undefined); // ends a page that hangs
});
const options = {
  signal: stopping.signal,
  onWait: ({ url, until, cause }) =>
    console.log(`waiting until ${new Date(until).toISOString()} for ${url}: ${cause}`),
};

async function visit(url) {
  // A page of its own: that of an error, which comes after a refusal, would interrupt the next navigation.
  const page = await context.newPage();
  try {
    const response = await page.goto(url).catch((error) => error);
    const error = await guard.errorOf(page); // a refusal, or "not now": a 429, a 503, a pause
    if (error !== undefined) throw error;
    if (response instanceof Error) throw response;
    const status = response?.status() ?? 200;
    return status < 400 ? `fetched ${page.url()}` : `status ${status} ${url}`;
  } finally {
    await page.close();
  }
}

for (const url of urls) {
  if (stopping.signal.aborted) break;
  try {
    console.log(await retryLater(() => visit(url), options));
  } catch (error) {
    const refusal = refusalIn(error); // undefined: the page itself failed
    console.log(refusal === undefined ? `failed ${url}: ${error.message}` : `refused ${refusal.message}`);
  }
}

console.log(`\n${report}`);
report.close();
await guard.dispose();
await browser.close();
await robots.close();
