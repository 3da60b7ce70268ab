import { expect, it } from 'vitest';
import { RobotsClient } from '../../../src/index.ts';
import { QUESTIONS } from '../../../src/core/decision/index.ts';

it('a known origin is decided synchronously, and a refresh ahead is started once', async () => {
  let now = 0;
  let requests = 0;
  const client = new RobotsClient({
    agent: 'ExampleBot',
    clock: { now: () => now },
    random: () => 0,
    transport: {
      fetch: async () => {
        requests++;
        return new Response('User-agent: *\nDisallow: /private\n');
      },
    },
  });
  const url = 'https://example.com/private';
  expect(client[QUESTIONS].recall(url)).toBeUndefined();
  expect(requests).toBe(0);
  const { robots } = await client.check(url);
  now = (robots.staleAt ?? 0) - 1;
  expect(client.peek(url)).toMatchObject({ allowed: false });
  expect(client.stats().inFlight).toBe(0);
  expect(client[QUESTIONS].recall(url)).toMatchObject({ allowed: false, reason: 'rule' });
  expect(client[QUESTIONS].recall(url)).toMatchObject({ allowed: false });
  expect(client.stats().inFlight).toBe(1);
  await expect.poll(() => client.stats().inFlight).toBe(0);
  expect(requests).toBe(2);
  await client.close();
});
