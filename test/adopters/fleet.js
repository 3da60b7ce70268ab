/** Runs the starter `crawl-in-a-fleet.js` in three processes over a Redis server, and kills one of them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const SITES = 12;
const PAGES = ['/', '/1', '/2', '/3', '/4', '/5'];
const BUSY = '/3';
const BUSY_SECONDS = 2;
/** By then a pause that one process learnt of is written, and the others know of it. Half of it for a busy machine. */
const KNOWN_MS = 600;
const log = [];

async function startSite(number) {
  const delayMs = 200 + 50 * (number % 4);
  const links = [...PAGES, '/private'].map((path) => `<a href="${path}">x</a>`).join('');
  let isBusy = true;
  const server = createServer(({ url }, response) => {
    const status = url === BUSY && isBusy ? 503 : 200;
    log.push({ number, url, at: performance.now(), status });
    if (url === '/robots.txt')
      return response.end(`User-agent: *\nDisallow: /private\nCrawl-delay: ${delayMs / 1000}`);
    if (status === 503) {
      isBusy = false;
      return response.writeHead(503, { 'retry-after': String(BUSY_SECONDS) }).end();
    }
    return response.writeHead(200, { 'content-type': 'text/html' }).end(links);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { number, delayMs, server, origin: `http://127.0.0.1:${server.address().port}` };
}

async function freePort() {
  const server = createSocket();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function until(holds, what) {
  for (const end = performance.now() + 60_000; !holds();) {
    assert.ok(performance.now() < end, `expected ${what}`);
    await sleep(50);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
const port = await freePort();
const redis = spawn('redis-server', ['--port', String(port), '--dir', folder, '--save', ''], {
  stdio: 'ignore',
});
const sites = await Promise.all(Array.from({ length: SITES }, (_, number) => startSite(number)));
const start = (...urls) =>
  spawn(process.execPath, ['crawl-in-a-fleet.js', ...urls], {
    env: { ...process.env, REDIS_URL: `redis://127.0.0.1:${port}` },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
const members = [start(...sites.map(({ origin }) => origin)), start(), start()];
try {
  const visited = ({ number }) => log.filter((each) => each.number === number && each.status === 200);
  await until(() => sites.every((site) => visited(site).length > 2), 'each site to be visited');
  const [killed, ...others] = members;
  killed.kill('SIGKILL');
  const isDone = (site) => PAGES.every((path) => visited(site).some(({ url }) => url === path));
  await until(() => sites.every(isDone), 'every page to be fetched');
  for (const member of others) member.kill('SIGTERM');
  for (const member of others) {
    if (member.exitCode === null) await once(member, 'exit');
    assert.equal(member.exitCode, 0);
  }
  for (const { number, delayMs } of sites) {
    const own = log.filter((each) => each.number === number);
    assert.equal(own.filter(({ url }) => url === '/robots.txt').length, 1, 'each robots.txt once');
    assert.equal(own.filter(({ url }) => url === '/private').length, 0, 'nothing that is disallowed');
    const pages = own.filter(({ url }) => url !== '/robots.txt');
    const busyAt = pages.find(({ status }) => status === 503).at;
    for (const [index, { at }] of pages.entries()) {
      // A busy machine may hold a process up right before it sends a request, which the next one then follows closely. Two
      // gaps together are longer than one all the same.
      const took = at - (pages[index - 2]?.at ?? -Infinity);
      assert.ok(took > delayMs - 50, `two gaps of ${delayMs} ms, not ${took} ms together`);
      // A process looks for pauses of others right before it sends a page.
      if (at > busyAt + KNOWN_MS)
        assert.ok(at > busyAt + BUSY_SECONDS * 1_000 - 50, 'no page while the site is busy');
    }
  }
} finally {
  for (const member of members) member.kill('SIGKILL');
  for (const { server } of sites) server.close();
  redis.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
