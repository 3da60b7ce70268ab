import { createSecureServer } from 'node:http2';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeAuthority } from '../../support/certificates.ts';
import { testClient } from '../../support/client.ts';
import { lookupIn } from '../../support/internet.ts';

/** No second address, which a busy machine would take too long to try. */
const lookup = lookupIn({ localhost: ['127.0.0.1'] });
const { key, cert } = makeAuthority().issue({ host: 'localhost' });
const server = createSecureServer({ key, cert, allowHTTP1: false }, (_, response) =>
  response.end('User-agent: *\nDisallow: /x\n'),
);
let page: string;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  page = `https://localhost:${(server.address() as AddressInfo).port}/x/page`;
});
afterAll(() => void server.close());

it('a site that speaks HTTP/2 alone is unreachable, with a code that says so', async () => {
  const { client: robots } = testClient({ lookup });
  const decision = await robots.check(page);
  expect(decision).toMatchObject({ allowed: false, reason: 'unreachable' });
  expect(decision.robots.error).toBe('ERR_ROBOTS_HTTP2_ONLY');
});

it('a dispatcher with `allowH2` reaches it', async () => {
  const dispatcher = new Agent({ allowH2: true, connect: { rejectUnauthorized: false } });
  const { client: robots } = testClient({ dispatcher });
  expect(await robots.check(page)).toMatchObject({ allowed: false, reason: 'rule' });
  await dispatcher.destroy();
});
