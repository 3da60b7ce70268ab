/**
 * Visits pages with Chromium: `node visit-with-playwright.js https://example.com/ https://example.com/private`
 * Needs: npm install canfetch playwright, and npx playwright install chromium
 */
import { refusalIn, crawlReport, RobotsClient } from 'canfetch';
import { guardContext } from 'canfetch/playwright';
import { chromium } from 'playwright';

const urls = process.argv.slice(2);
const agent = 'ExampleBot/1.0 (+https://example.com/bot)';

const robots = new RobotsClient({ agent });
const report = crawlReport(robots);
const browser = await chromium.launch();
// The name that robots.txt is asked about.
const context = await browser.newContext({ userAgent: agent });
// Holds each navigation back until it is decided, and each redirect.
const guard = await guardContext(context, robots, { pacing: { maxDelayMs: 20_000 } });
const page = await context.newPage();

for (const url of urls.length === 0 ? ['https://example.com/'] : urls) {
  try {
    await page.goto(url);
    console.log(`fetched ${page.url()}`);
  } catch (error) {
    const refusal = refusalIn(await guard.errorOf(page)); // undefined: the page itself failed
    console.log(refusal === undefined ? `failed ${url}: ${error.message}` : `refused ${refusal.message}`);
  }
}

console.log(`\n${report}`);
report.close();
await guard.dispose();
await browser.close();
await robots.close();
