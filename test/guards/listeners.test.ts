import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, it, vi } from 'vitest';
import { guardFetch, RobotsClient } from '../../src/index.ts';
import { answer } from '../support/site.ts';
import { echo, pagesOf, scriptedClient, site } from './support.ts';

const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);

const failing = {
  throws: () => {
    throw new Error('broken');
  },
  rejects: () => Promise.reject(new Error('broken')),
};

it.each(Object.entries(failing))(
  'a listener that %s changes no request, and the process is warned',
  async (_, listener) => {
    const server = await site(echo);
    const robots = scriptedClient();
    const guarded = guardFetch(fetch, robots, {
      agent: 'ExampleBot',
      onRefusal: listener,
    });
    await expect(guarded(server.url('/private'))).rejects.toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
    expect(pagesOf(server)).toEqual([]);
  },
);

it('the process was warned once', () => {
  const messages = warned.mock.calls.map(([message]) => String(message));
  expect(messages.filter((message) => message.startsWith('`onRefusal` failed: Error: broken'))).toHaveLength(
    1,
  );
});

it('the price of a 402 reaches `onPaymentRequired`, and stands in the evidence', async () => {
  const offer = { scheme: 'exact', network: 'eip155:8453', amount: '10000', asset: 'USDC' };
  const x402 = Buffer.from(JSON.stringify({ x402Version: 2, accepts: [offer] })).toString('base64');
  const fields: Record<string, Record<string, string>> = {
    '/cloudflare': { 'crawler-price': 'USD 0.01' },
    '/x402': { 'payment-required': x402 },
    '/none': {},
    '/broken': { 'payment-required': '{' },
    '/long': { 'crawler-price': `USD ${'9'.repeat(1_000)}` },
  };
  const server = await site((request, response) =>
    answer(response, { status: 402, headers: fields[request.url ?? ''] ?? {} }),
  );
  const received: (string | undefined)[] = [];
  const recorded: unknown[] = [];
  const evidence = (entry: { readonly type: string; readonly price?: string }): void => {
    if (entry.type === 'request') recorded.push(entry.price);
  };
  const guarded = guardFetch(fetch, scriptedClient(undefined, { evidence }), {
    onPaymentRequired: ({ url, price }) => void received.push(`${new URL(url).pathname} ${price}`),
  });
  for (const path of Object.keys(fields)) expect((await guarded(server.url(path))).status).toBe(402);
  expect(received).toEqual([
    '/cloudflare USD 0.01',
    '/x402 10000 USDC eip155:8453',
    '/none undefined',
    '/broken undefined',
    `/long USD ${'9'.repeat(196)}`,
  ]);
  expect(recorded).toEqual([
    'USD 0.01',
    '10000 USDC eip155:8453',
    undefined,
    undefined,
    `USD ${'9'.repeat(196)}`,
  ]);
});

it('a body that is cut is published to who subscribes to bodies alone, of a call with nothing but a URL, too', async () => {
  const bodies: unknown[] = [];
  const listen = (message: unknown): void => void bodies.push(message);
  subscribe('canfetch:body', listen);
  const cut = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('half a page')),
    pull: (controller) => controller.error(new Error('cut')),
  });
  const transport = { fetch: async () => new Response('') };
  const client = new RobotsClient({ agent: 'ExampleBot', transport });
  await client.prefetch(['https://a.example']);
  const response = await guardFetch(
    async (_url: string) => new Response(cut),
    client,
  )('https://a.example/page');
  await response.text().catch(() => undefined);
  unsubscribe('canfetch:body', listen);
  await client.close();
  expect(bodies).toHaveLength(1);
});
