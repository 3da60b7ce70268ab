import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { guardFetch, retryLater, RobotsClient } from '../../../src/index.ts';

/** A line for each page that is done. Killed at any moment, it goes on where it was. */
const [folder = '', ...urls] = process.argv.slice(2);
const file = `${folder}/done.txt`;
const done = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
const get = guardFetch(fetch, robots, { pacing: { defaultDelayMs: 100 } });
for (const url of urls.filter((each) => !done.includes(each))) {
  const response = await retryLater(() => get(url));
  await response.text();
  appendFileSync(file, `${url}\n`);
  console.log('page', url);
}
await robots.close();
