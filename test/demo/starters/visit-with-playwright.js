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

async function visit(url, tries = 3) {
  // A page of its own: that of an error, which comes after a refusal, would interrupt the next navigation.
  const page = await context.newPage();
  try {
    const response = await page.goto(url).catch(async (error) => {
      throw (await guard.errorOf(page)) ?? error;
    });
    const status = response?.status() ?? 200;
    // The guard defers the next try until the pause is over, and `retryLater` waits for that.
    if ((status === 429 || status === 503) && tries > 1) return retryLater(() => visit(url, tries - 1));
    return status < 400 ? `fetched ${page.url()}` : `status ${status} ${url}`;
  } finally {
    await page.close();
  }
}

for (const url of urls.length === 0 ? ['https://example.com/'] : urls) {
  try {
    console.log(await retryLater(() => visit(url)));
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
