import PQueue from 'p-queue';
import { guardFetch, retryLater, RobotsClient } from '../../../src/index.ts';

/** A container gets SIGTERM, and is killed ten seconds later: what is in flight is aborted, what waits is left. */
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
const get = guardFetch(fetch, robots, { pacing: true });
const queue = new PQueue({ concurrency: 10 });
const { signal } = stop;
for (const url of process.argv.slice(2))
  void queue.add(() =>
    retryLater(() => get(url, { signal }), { signal, onWait: () => console.log('waiting') })
      .then((response) => response.text())
      .then(
        () => console.log('page', url),
        (error: Error) => console.log('left', url, error.name),
      ),
  );
await queue.onIdle();
await robots.close();
