import { guardFetch, refusalIn, retryLater, RobotsClient } from '../../../src/index.ts';

/** Ctrl-C while the loop waits for a site. Every URL that is left is told. */
const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
process.once('SIGINT', () => void robots.close());
const get = guardFetch(fetch, robots, { pacing: true });
for (const url of process.argv.slice(2)) {
  const onWait = (): void => console.log('waiting');
  await retryLater(() => get(url), { onWait })
    .then((response) => response.text())
    .then(
      () => console.log('page', url),
      (error: unknown) =>
        console.log('left', url, refusalIn(error)?.code ?? Reflect.get(Object(error), 'code')),
    );
}
