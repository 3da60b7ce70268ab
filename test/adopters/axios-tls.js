import { Agent } from 'node:https';
import axios from 'axios';
import axiosRetry, { isNetworkOrIdempotentRequestError } from 'axios-retry';
import { refusalIn, RobotsClient } from 'canfetch';
import { axiosTransport, guardAxios } from 'canfetch/axios';

/** A fetcher of documents. `invalidTls: 'ignore'` takes every certificate, for pages and for robots.txt. */
function fetcherOf({ invalidTls = 'error' } = {}) {
  const instance = axios.create({
    httpsAgent: new Agent({ rejectUnauthorized: invalidTls === 'error' }),
    responseType: 'arraybuffer',
    timeout: 30_000,
  });
  const robots = new RobotsClient({ agent: 'ExampleBot/1.0', transport: axiosTransport(instance) });
  guardAxios(instance, robots);
  // To axios-retry a refused redirect is a failure of the network.
  const retryCondition = (error) =>
    refusalIn(error) === undefined && isNetworkOrIdempotentRequestError(error);
  axiosRetry(instance, { retries: 2, retryCondition });
  const textOf = async (url) => (await instance.get(url)).data.toString();
  return { robots, textOf };
}

// --- its test
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:https';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'adopter-'));
const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name));
execFileSync(
  'openssl',
  ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-keyout', key, '-out', cert],
  { stdio: 'ignore' },
);
const requests = [];
const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, ({ url }, response) => {
  requests.push(url);
  if (url === '/moved') response.writeHead(302, { location: '/private' });
  response.end(url === '/robots.txt' ? 'User-agent: *\nDisallow: /private' : 'a page');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `https://localhost:${server.address().port}`;
const refusalOf = async (promise) => refusalIn(await promise.catch((error) => error));

const lenient = fetcherOf({ invalidTls: 'ignore' });
assert.equal(await lenient.textOf(`${origin}/page`), 'a page');
for (const path of ['/private', '/moved'])
  assert.equal((await refusalOf(lenient.textOf(origin + path)))?.code, 'ERR_ROBOTS_DISALLOWED');
assert.deepEqual(requests, ['/robots.txt', '/page', '/moved']);
await lenient.robots.close();

const strict = fetcherOf();
const refusal = await refusalOf(strict.textOf(`${origin}/page`));
assert.deepEqual(
  [refusal?.code, refusal?.cause?.code],
  ['ERR_ROBOTS_UNREACHABLE', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  'a bad certificate is told from a rule',
);
assert.equal(requests.length, 3);
await strict.robots.close();
server.close();
