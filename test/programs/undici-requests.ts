import { Agent, interceptors, request } from 'undici';
import { robotsInterceptor } from '../../src/guards/undici/undici.ts';
import type { Crawl } from './crawl.ts';

/** undici's `request`, which dumps what it does not read. */
export default async function undiciRequests({ robots, pacing, urls, ended }: Crawl): Promise<void> {
  const agent = new Agent();
  const redirect = interceptors.redirect({ maxRedirections: 3 });
  const dispatcher = agent.compose(robotsInterceptor(robots, { pacing }), redirect);
  for (const [index, url] of urls.entries()) {
    try {
      const { body } = await request(url, { dispatcher });
      await (index % 2 === 0 ? body.text() : body.dump());
      ended(url);
    } catch (error) {
      ended(url, error);
    }
  }
  await agent.close();
}
