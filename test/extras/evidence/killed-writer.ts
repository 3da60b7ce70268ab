/** Crawls and writes evidence without an end, until it is killed: see evidence-file.test.ts. */
import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { RobotsClient } from '../../../src/core/client/index.ts';
import { evidenceFile } from '../../../src/extras/evidence/index.ts';

const path = process.argv[2]!;
const client = new RobotsClient({
  agent: 'ExampleBot',
  transport: { fetch: async (url) => new Response(`User-agent: *\nDisallow: /private\n# ${url}\n`) },
  evidence: await evidenceFile(path),
});
const before = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
let announced = false;
for (let site = 0; ; site++) {
  await client.check(`https://site-${site}.example/private`);
  await setImmediate();
  if (announced || statSync(path).size < before + 50_000) continue;
  announced = true;
  // With another argument it ends by itself, with entries that wait.
  if (process.argv[3] !== undefined) process.exit();
  console.log('"written"');
}
