/**
 * Crawls a site with Crawlee: `node crawl-with-crawlee.js https://example.com/`
 * Needs: npm install canfetch @crawlee/cheerio
 */
import { crawlReport, RobotsClient } from 'canfetch';
import { withRobots } from 'canfetch/crawlee';
import { CheerioCrawler, Configuration } from '@crawlee/cheerio';

const [start = 'https://example.com/'] = process.argv.slice(2);

const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
const report = crawlReport(robots);
// Crawlee sends the name of a browser otherwise. A busy page is tried again when the pause of its site is over.
const PoliteCrawler = withRobots(CheerioCrawler, robots, { pacing: true, identify: true });

const crawler = new PoliteCrawler(
  {
    maxRequestsPerCrawl: 100,
    async requestHandler({ request, response, enqueueLinks }) {
      const { statusCode } = response;
      if (statusCode >= 400) return console.log(`status ${statusCode} ${request.loadedUrl}`);
      console.log(`fetched ${request.loadedUrl}`);
      await enqueueLinks();
    },
    // Also what is no HTML, and what stayed busy.
    failedRequestHandler({ request }, error) {
      console.log(`failed ${request.url}: ${error.message}`);
    },
    onSkippedRequest({ url, reason, refusal }) {
      console.log(`refused ${refusal?.message ?? `${url}: ${reason}`}`);
    },
  },
  new Configuration({ persistStorage: false }),
);
let limit;
process.once('SIGTERM', () => {
  limit = setTimeout(() => process.exit(1), 4_000); // a page may hang
  crawler.stop(); // starts no page more
  void robots.close(); // ends what waits
});
await crawler.run([start]);
clearTimeout(limit);

console.log(`\n${report}`);
report.close();
await robots.close();
