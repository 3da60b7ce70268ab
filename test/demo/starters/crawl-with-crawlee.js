/**
 * Crawls a site with Crawlee: `node crawl-with-crawlee.js https://example.com/`
 * Needs: npm install canfetch @crawlee/cheerio
 */
import { crawlReport, RobotsClient } from 'canfetch';
import { withRobots } from 'canfetch/crawlee';
import { CheerioCrawler, Configuration } from '@crawlee/cheerio';

const [start = 'https://example.com/'] = process.argv.slice(2);
const agent = 'ExampleBot/1.0 (+https://example.com/bot)';

const robots = new RobotsClient({ agent });
const report = crawlReport(robots);
const PoliteCrawler = withRobots(CheerioCrawler, robots, { pacing: true });

const crawler = new PoliteCrawler(
  {
    maxRequestsPerCrawl: 100,
    preNavigationHooks: [
      // Crawlee sends the name of a browser. Robots.txt was asked about this one.
      (_, options) => {
        options.headers = { ...options.headers, 'user-agent': agent };
      },
    ],
    async requestHandler({ request, enqueueLinks }) {
      console.log(`fetched ${request.loadedUrl}`);
      await enqueueLinks();
    },
    failedRequestHandler({ request }, error) {
      console.log(`failed ${request.url}: ${error.message}`);
    },
    onSkippedRequest({ url, reason, refusal }) {
      console.log(`refused ${refusal?.message ?? `${url}: ${reason}`}`);
    },
  },
  new Configuration({ persistStorage: false }),
);
await crawler.run([start]);

console.log(`\n${report}`);
report.close();
await robots.close();
