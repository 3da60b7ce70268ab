import { guardFetch, RobotsClient } from 'canfetch';
import { robotsMetrics } from 'canfetch/prometheus';
import express from 'express';
import { Registry } from 'prom-client';

const robots = new RobotsClient({ agent: 'ExampleBot/1.0' });
const registry = new Registry();
robotsMetrics(robots, registry);
const app = express();
app.get('/metrics', async (_request, response) => {
  response.type(registry.contentType).send(await registry.metrics());
});

// --- its test
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { fakeOrigin } from 'canfetch/testing';

await using site = await fakeOrigin({ robots: 'User-agent: *\nDisallow: /private' });
const fetchGuarded = guardFetch(fetch, robots);
await (await fetchGuarded(site.url('/page'))).text();
await assert.rejects(fetchGuarded(site.url('/private')));
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const text = await (await fetch(`http://127.0.0.1:${server.address().port}/metrics`)).text();
const value = (name) => Number(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'm').exec(text)?.[1]);
assert.equal(value('canfetch_refusals_total'), 1, text);
server.close();
server.closeAllConnections();
await robots.close();
