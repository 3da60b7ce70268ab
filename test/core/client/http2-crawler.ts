import { RobotsClient } from '../../../src/index.ts';
import { makeAuthority } from '../../support/certificates.ts';
import { h2, startHttp2Site } from '../../support/http2-site.ts';
import { lookupIn } from '../../support/internet.ts';

/** A crawler of sites whose answers over HTTP/2 have a field that they must not have. Tells what it decided. */
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
const [rounds, atOnce] = process.argv.slice(2).map(Number);
const identity = makeAuthority().issue({ host: 'localhost' });
const play = [h2.headers(200, { 'transfer-encoding': 'chunked' }), h2.data('User-agent: *\n', true)];
const lookup = lookupIn({ localhost: ['127.0.0.1'] });

async function visit(): Promise<string> {
  const site = await startHttp2Site(identity, [play]);
  const robots = new RobotsClient({ agent: 'ExampleBot/1.0', lookup });
  const { allowed, robots: about } = await robots.check(`${site.origin}/page`);
  await robots.close();
  await site[Symbol.asyncDispose]();
  return `${allowed} ${about.error}`;
}

const decided = new Set<string>();
for (let round = 0; round < (rounds ?? 0); round++) {
  const answers = await Promise.all(Array.from({ length: atOnce ?? 0 }, visit));
  for (const answer of answers) decided.add(answer);
}
process.stdout.write(`${JSON.stringify([...decided])}\n`);
