import { BasicCrawler, Configuration } from '@crawlee/basic';
import { withRobots } from '../../../src/guards/crawlee/crawlee.ts';
import { RobotsClient } from '../../../src/index.ts';

/** Ctrl-C while all that is left of a Crawlee crawl waits for a site. Crawlee has its own handler. */
const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
const PoliteCrawler = withRobots(BasicCrawler, robots, { pacing: true, identify: true });
const crawler = new PoliteCrawler(
  {
    requestHandler: async ({ request, sendRequest }) => {
      await sendRequest();
      console.log('page', request.url);
    },
  },
  new Configuration({ persistStorage: false }),
);
await crawler.run(process.argv.slice(2));
await robots.close();
