import got from 'got';
import { HttpProxyAgent, HttpsProxyAgent } from 'hpagent';
import { RobotsClient } from 'canfetch';
import { gotHooks, gotTransport } from 'canfetch/got';

/** A crawler that sends each request by the next of its proxies: pages, redirects, and robots.txt. */
function crawlerOver(proxies) {
  const agents = proxies.map((proxy) => ({
    http: new HttpProxyAgent({ proxy }),
    https: new HttpsProxyAgent({ proxy }),
  }));
  let requests = 0;
  const byNextProxy = (options) => {
    if (agents.length > 0) options.agent = agents[requests++ % agents.length];
  };
  const instance = got.extend({ hooks: { beforeRequest: [byNextProxy], beforeRedirect: [byNextProxy] } });
  const robots = new RobotsClient({ agent: 'ExampleBot/1.0', transport: gotTransport(instance) });
  return { robots, get: instance.extend(gotHooks(robots)) };
}

// --- its test
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { fakeOrigin } from 'canfetch/testing';

/** A proxy that opens tunnels, or refuses them with a status. */
async function startProxy(refusal) {
  const tunnels = [];
  const server = createServer().on('connect', ({ url }, client) => {
    tunnels.push(url);
    client.on('error', () => {});
    if (refusal !== undefined) return client.end(`HTTP/1.1 ${refusal} No\r\ncontent-length: 0\r\n\r\n`);
    const site = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connected\r\n\r\n');
      client.pipe(site).pipe(client);
    });
    site.on('error', () => client.destroy());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, tunnels, close: () => server.close() };
}

const RULES = 'User-agent: *\nDisallow: /private';
const disallowed = { code: 'ERR_ROBOTS_DISALLOWED' };
await using site = await fakeOrigin({
  robots: RULES,
  pages: { '/page': { status: 200, body: 'a page' }, '/moved': { redirect: '/private' } },
});
const proxies = [await startProxy(), await startProxy()];
const crawler = crawlerOver(proxies.map(({ url }) => url));
assert.equal(await crawler.get(site.url('/page')).text(), 'a page');
await assert.rejects(crawler.get(site.url('/private')), disallowed);
await assert.rejects(crawler.get(site.url('/moved')), disallowed);
assert.deepEqual(
  [site.robotsCount, site.count('/page'), site.count('/moved'), site.count('/private')],
  [1, 1, 1, 0],
);
assert.ok(proxies.every(({ tunnels }) => tunnels.length > 0));
assert.equal(proxies.flatMap(({ tunnels }) => tunnels).length, 3, 'nothing went past the proxies');
await crawler.robots.close();

const refusing = await startProxy(403);
const { robots: refused } = crawlerOver([refusing.url]);
const decision = await refused.check(site.url('/page'));
assert.deepEqual(
  [decision.allowed, decision.robots.error, decision.robots.status],
  [false, 'ERR_ROBOTS_PROXY', 403],
);
await refused.close();
for (const each of [...proxies, refusing]) each.close();

// As its users test it: nock 13 sees requests over node:http alone.
const { default: nock } = await import('nock');
nock.disableNetConnect();
nock('https://shop.test').get('/robots.txt').reply(200, RULES).get('/page').reply(200, 'a page');
const mocked = crawlerOver([]);
assert.equal(await mocked.get('https://shop.test/page').text(), 'a page');
await assert.rejects(mocked.get('https://shop.test/private'), disallowed);
assert.ok(nock.isDone());
await mocked.robots.close();
