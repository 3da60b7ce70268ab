import { createRequire } from 'node:module';
import axios from 'axios';
import got from 'got';
import { axiosTransport } from '../../src/guards/axios/axios.ts';
import { gotTransport } from '../../src/guards/got/got.ts';
import { RobotsClient } from '../../src/index.ts';

/** Asks about a URL over each transport, and sends what was decided, and whether undici was loaded. */
const [url = ''] = process.argv.slice(2);
for (const transport of [gotTransport(got), axiosTransport(axios), undefined]) {
  const robots = new RobotsClient({ agent: 'ExampleBot', ...(transport === undefined ? {} : { transport }) });
  const allowed = await robots.canFetch(url);
  const isLoaded = Object.keys(createRequire(import.meta.url).cache).some((file) =>
    /[\\/]undici[\\/]/.test(file),
  );
  process.stdout.write(`${JSON.stringify({ allowed, isLoaded })}\n`);
  await robots.close();
}
