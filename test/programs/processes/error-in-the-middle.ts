import { guardFetch, retryLater, RobotsClient } from '../../../src/index.ts';

/** A bug ends the program while other tasks wait for a site. */
async function main(): Promise<void> {
  const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
  const get = guardFetch(fetch, robots, { pacing: true });
  const onWait = (): void => console.log('waiting');
  try {
    await Promise.all(
      process.argv.slice(2).map(async (url, index) => {
        const response = await retryLater(() => get(url), { onWait });
        const text = await response.text();
        if (index === 0) throw new Error(`No title in ${text}`);
      }),
    );
  } finally {
    await robots.close();
  }
}
await main().catch((error: Error) => {
  console.log('failed', error.message);
  process.exitCode = 1;
});
