/** Bundles `worker.js` by wrangler, as it would be deployed, and runs the bundle in workerd. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fakeOrigin } from 'canfetch/testing';

const date = '2026-01-01';
const settings = ['--name', 'adopter', '--compatibility-date', date, '--dry-run', '--outdir', 'worker-dist'];
execFileSync(
  process.execPath,
  ['node_modules/wrangler/bin/wrangler.js', 'deploy', 'worker.js', ...settings],
  {
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
    stdio: ['ignore', 'ignore', 'inherit'],
  },
);
const port = await new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const free = server.address().port;
    server.close(() => resolve(free));
  });
});
writeFileSync(
  'worker-dist/workerd.capnp',
  `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (modules = [(name = "worker", esModule = embed "worker.js")], compatibilityDate = "${date}", globalOutbound = "loopback")),
    (name = "loopback", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`,
);
// A group of its own, because npm's wrapper starts the program as a child.
const workerd = spawn('node_modules/.bin/workerd', ['serve', 'worker-dist/workerd.capnp'], {
  detached: true,
  stdio: 'ignore',
});
await using site = await fakeOrigin({
  robots: 'User-agent: *\nDisallow: /private',
  pages: { '/page': 'hello' },
});
const get = async (path) => {
  const url = `http://127.0.0.1:${port}/?url=${encodeURIComponent(site.url(path))}`;
  for (let attempts = 100; ; attempts--) {
    try {
      return await fetch(url);
    } catch (error) {
      if (attempts === 0) throw error;
      await setTimeout(100);
    }
  }
};
try {
  assert.equal(await (await get('/page')).text(), 'hello');
  assert.deepEqual(await (await get('/private')).json(), { code: 'ERR_ROBOTS_DISALLOWED' });
  assert.equal(site.count('/private'), 0);
} finally {
  process.kill(-workerd.pid, 'SIGKILL');
}
