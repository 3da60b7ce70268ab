import { CheerioCrawler } from '@crawlee/cheerio';
import { withRobots } from '../../../src/guards/crawlee/crawlee.ts';
import { inMemory } from '../../support/crawlee.ts';
import type { Run } from './run.ts';

/** Crawlee with its defaults, but for how often it looks for work. */
export default async function crawleeAsItIs({ robots, clock, urls, ended }: Run): Promise<void> {
  const PoliteCrawler = withRobots(CheerioCrawler, robots, { pacing: true, identify: true, clock });
  const crawler = new PoliteCrawler(
    {
      autoscaledPoolOptions: { maybeRunIntervalSecs: 0.01 },
      requestHandler: ({ request }) => ended(request.url),
      failedRequestHandler: ({ request }, error) => ended(request.url, error),
      onSkippedRequest: (skipped) => ended(skipped.url, Reflect.get(skipped, 'refusal')),
    },
    inMemory(),
  );
  await crawler.run([...urls]);
}
