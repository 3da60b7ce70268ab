import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { robotsMetrics } from '../../../src/extras/prometheus/prometheus.ts';
import { guardFetch, RobotsClient } from '../../../src/index.ts';
import { fakeOrigin, virtualClock } from '../../../src/extras/testing/index.ts';

/** A client, its metrics, and the values of one of them by its labels. */
function measured(options: ConstructorParameters<typeof RobotsClient>[0] = {}) {
  const registry = new Registry();
  const client = new RobotsClient({ agent: 'ExampleBot', ...options });
  const metrics = robotsMetrics(client, registry);
  onTestFinished(async () => {
    metrics.close();
    await client.close();
  });
  const values = async (name: string): Promise<Record<string, number>> => {
    const metric = (await registry.getMetricsAsJSON()).find((each) => each.name === name);
    return Object.fromEntries(
      (metric?.values ?? []).map(({ labels, value }) => [Object.values(labels).join(' '), value]),
    );
  };
  return { client, registry, metrics, values };
}

describe('robotsMetrics', () => {
  it('counts what the servers saw, refusals by reason, and attempts', async () => {
    await using site = await fakeOrigin({
      robots: 'User-agent: *\nDisallow: /private\nContent-Usage: /own/ train-ai=n\n',
      pages: {
        '/page': 'hello',
        '/old': { redirect: '/page' },
        '/gone': { status: 404 },
        '/lost': { fault: 'reset' },
      },
    });
    const { client, values } = measured();
    const get = guardFetch(fetch, client, { purpose: 'train-ai' });
    for (const path of ['/page', '/old', '/gone', '/lost', '/private', '/private/2', '/own/a'])
      await get(site.url(path)).catch(() => undefined);
    await client.check(site.url('/private'));
    expect(await values('canfetch_requests_total')).toEqual({ 200: 2, 302: 1, 404: 1, none: 1 });
    expect(site.pageCount).toBe(5);
    expect(await values('canfetch_refusals_total')).toEqual({ rule: 2, usage: 1 });
    expect(await values('canfetch_decisions_total')).toMatchObject({ 'false rule rules': 3 });
    expect(await values('canfetch_fetches_total')).toEqual({ success: 1 });
    expect(await values('canfetch_origins')).toEqual({ '': 1 });
  });

  it('counts deferrals and pauses, one that is lengthened once', async () => {
    const clock = virtualClock({ autoAdvance: true });
    const { client, values } = measured({
      clock,
      transport: { fetch: async () => new Response('User-agent: *\nCrawl-delay: 0\n') },
    });
    const responses = ['10', '30'].map(
      (after) => new Response(null, { status: 429, headers: { 'retry-after': after } }),
    );
    const busy = (async () => responses.shift() ?? new Response(null, { status: 503 })) as typeof fetch;
    const get = guardFetch(busy, client, { pacing: { concurrency: 2, maxDelayMs: 60_000 }, clock });
    await Promise.all([get('https://a.example/1'), get('https://a.example/2')]);
    expect(await values('canfetch_pauses_total')).toEqual({ 'retry-after': 1 });
    await get('https://a.example/3');
    expect(await values('canfetch_pauses_total')).toEqual({ 'retry-after': 1, 'back-off': 1 });
    const patient = guardFetch(busy, client, { pacing: { maxDelayMs: 1_000 }, clock });
    await expect(patient('https://a.example/4')).rejects.toMatchObject({ code: 'ERR_ROBOTS_DEFERRED' });
    expect(await values('canfetch_deferrals_total')).toEqual({ 'back-off': 1 });
  });

  it('stops when it is closed', async () => {
    const fetch = async (): Promise<Response> => new Response('User-agent: *\nDisallow: /private\n');
    const { client, metrics, values } = measured({ transport: { fetch } });
    await client.check('https://a.example/private');
    metrics.close();
    await client.check('https://a.example/private');
    expect(await values('canfetch_decisions_total')).toEqual({ 'false rule rules': 1 });
  });

  it('refuses a registry that has the metrics of a client, and leaves it as it is', async () => {
    const { client, registry, metrics } = measured();
    const before = await registry.metrics();
    const other = new RobotsClient({ agent: 'OtherBot' });
    for (const each of [client, other])
      expect(() => robotsMetrics(each, registry)).toThrow(
        /canfetch_requests_total has already been registered/,
      );
    expect(await registry.metrics()).toBe(before);
    metrics.close();
    registry.clear();
    robotsMetrics(other, registry).close();
    await other.close();
  });

  it.each([
    ['no client', {}, new Registry()],
    ['no registry', new RobotsClient({ agent: 'ExampleBot' }), {}],
  ])('refuses %s', (_, client, registry) => {
    expect(() => robotsMetrics(client as RobotsClient, registry as Registry)).toThrow(
      expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }),
    );
  });
});
