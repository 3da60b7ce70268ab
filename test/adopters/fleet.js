/** Runs the starter `crawl-in-a-fleet.js` in four processes over a Redis server, kills one of them, and then the server. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const SITES = Number(process.env.SITES ?? 40);
const DELAYS_MS = [200, 400, 700, 1_000];
const PAGES = ['/', '/1', '/2', '/3', '/4', '/5', '/6', '/7'];
const BUSY = '/3';
const BUSY_SECONDS = 2;
/** By then a pause that one process learnt of is written, and the others know of it. Half of it for a busy machine. */
const KNOWN_MS = 600;
const log = [];

async function startSite(number) {
  const delayMs = DELAYS_MS[number % DELAYS_MS.length];
  const links = [...PAGES, '/private', '/gone', '/data', 'http://[', 'mailto:a@localhost']
    .map((path) => `<a href="${path}">x</a>`)
    .join('');
  let isBusy = true;
  const server = createServer(({ url }, response) => {
    const status = url === BUSY && isBusy ? 503 : url === '/gone' ? 404 : 200;
    log.push({ number, url, at: performance.now(), status });
    if (url === '/robots.txt')
      return response.end(`User-agent: *\nDisallow: /private\nCrawl-delay: ${delayMs / 1000}`);
    if (status === 503) {
      isBusy = false;
      return response.writeHead(503, { 'retry-after': String(BUSY_SECONDS) }).end();
    }
    const type = url === '/data' ? 'application/pdf' : 'text/html';
    const body = status === 404 || url === '/data' ? '<a href="/never">x</a>' : links;
    return response.writeHead(status, { 'content-type': type }).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { number, delayMs, server, origin: `http://127.0.0.1:${server.address().port}` };
}

/** Below those that systems give to requests for any port, so that no server of another test gets it meanwhile. */
async function freePort() {
  const server = createSocket();
  const port = 22_000 + Math.floor(Math.random() * 10_000);
  server.listen(port, '127.0.0.1');
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (!isFree) return freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function until(holds, what) {
  for (const end = performance.now() + 90_000; !holds();) {
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
const output = [];
const errors = [];
function start(...urls) {
  const member = spawn(process.execPath, ['crawl-in-a-fleet.js', ...urls], {
    env: { ...process.env, REDIS_URL: `redis://127.0.0.1:${port}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  member.stderr.on('data', (text) => errors.push(String(text)));
  member.stdout.on('data', (text) => output.push(String(text)));
  return member;
}
/** Sends SIGTERM, and gives the code with which it ends within five seconds. */
async function end(member) {
  const signal = AbortSignal.timeout(5_000);
  member.kill('SIGTERM');
  if (member.exitCode === null) await once(member, 'exit', { signal });
  return member.exitCode;
}
const members = [start(...sites.map(({ origin }) => origin)), start(), start()];
try {
  const visited = ({ number }) => log.filter((each) => each.number === number && each.status !== 503);
  await until(() => sites.every((site) => visited(site).length > 2), 'each site to be visited');
  members.shift().kill('SIGKILL');
  // Some of these come while the job of their host ends.
  const fast = sites.filter(({ delayMs }) => delayMs === DELAYS_MS[0]);
  const hasPages = (site, paths) => paths.every((path) => visited(site).some(({ url }) => url === path));
  await until(() => fast.some((site) => hasPages(site, [...PAGES, '/gone', '/data'])), 'a site to be done');
  members.push(start(...sites.map(({ origin }) => `${origin}/late`)));
  await until(
    () => sites.every((site) => hasPages(site, [...PAGES, '/gone', '/data', '/late'])),
    'every page',
  );
  for (const { number, delayMs } of sites) {
    const own = log.filter((each) => each.number === number);
    assert.equal(own.filter(({ url }) => url === '/robots.txt').length, 1, 'each robots.txt once');
    assert.equal(own.filter(({ url }) => url === '/private').length, 0, 'nothing that is disallowed');
    assert.equal(own.filter(({ url }) => url === '/never').length, 0, 'no link of what is no page');
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
  for (const delayMs of process.env.SITES === undefined ? [] : DELAYS_MS) {
    const times = sites
      .filter((site) => site.delayMs === delayMs)
      .map((site) => {
        const own = log.filter(({ number, url }) => number === site.number && !/robots|late/.test(url));
        return (own.at(-1).at - log[0].at) / (own.length * delayMs + BUSY_SECONDS * 1_000);
      });
    console.log(`${delayMs} ms: done after ${Math.max(...times).toFixed(2)} x of the schedule at most`);
  }
  const [last, ...others] = members;
  for (const member of others) assert.equal(await end(member), 0);
  const text = output.join('');
  for (const line of [
    /^status 404 .*\/gone$/m,
    /^no HTML \(application\/pdf\) .*\/data$/m,
    /^refused .*\/private/m,
  ])
    assert.match(text, line);
  redis.kill('SIGKILL');
  await end(last);
} catch (error) {
  const missing = sites.filter(
    ({ number }) => !log.some((each) => each.number === number && each.url === '/1'),
  );
  console.error(
    `${missing.length} sites without a second page\n`,
    output.slice(-20).join(''),
    errors.slice(-5).join(''),
  );
  throw error;
} finally {
  for (const member of members) member.kill('SIGKILL');
  for (const { server } of sites) server.close();
  redis.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
