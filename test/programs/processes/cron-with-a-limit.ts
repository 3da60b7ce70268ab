import { readFile, writeFile } from 'node:fs/promises';
import { guardFetch, refusalIn, RobotsClient } from '../../../src/index.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.ts';

/** A cron job that may take two seconds. What it has not reached comes the next time. */
const [folder = '', ...urls] = process.argv.slice(2);
const doneFile = `${folder}/done.json`;
const done: string[] = JSON.parse(await readFile(doneFile, 'utf8').catch(() => '[]'));
const store = sqliteStore({ path: `${folder}/robots.db` });
const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)', store });
setTimeout(() => void robots.close(), 2_000).unref();
const get = guardFetch(fetch, robots, { pacing: { maxDelayMs: 1_500 } });
for (const url of urls.filter((each) => !done.includes(each))) {
  try {
    await (await get(url)).text();
    done.push(url);
    console.log('page', url);
  } catch (error) {
    console.log('left', url, refusalIn(error)?.code ?? Reflect.get(Object(error), 'code'));
  }
}
await robots.close();
store.close();
await writeFile(doneFile, JSON.stringify(done));
