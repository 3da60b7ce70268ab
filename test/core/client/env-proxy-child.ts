import { RobotsClient } from '../../../src/index.ts';

/** Asks for the robots.txt of a URL, then for the URL itself, with what this process was started with. */
const url = process.argv[2] ?? '';
const robots = new RobotsClient();
const { reason } = await robots.check(url);
const page = await fetch(url).then(
  ({ status }) => String(status),
  () => 'failed',
);
process.stdout.write(JSON.stringify({ robots: reason, page }));
await robots.close();
