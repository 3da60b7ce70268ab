import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { guardFetch, RobotsClient, type RobotsClientOptions } from '../../../src/index.ts';
import { Recorder } from '../../../src/core/client/evidence/recorder.ts';

const TEXT = 'User-agent: *\nDisallow: /private\n';

/** Counts the calls of the recorder's methods while a client decides, requests, and forgets. */
async function calls(options: RobotsClientOptions): Promise<Record<string, number>> {
  const methods = [
    'onAttempt',
    'onRecordRestored',
    'onSiteSignal',
    'onRemoved',
    'onDecisionMade',
    'onDecisionPublished',
    'onIgnored',
    'onRequest',
  ] as const;
  const spies = methods.map((name) => [name, vi.spyOn(Recorder.prototype, name)] as const);
  onTestFinished(() => spies.forEach(([, spy]) => spy.mockRestore()));
  const client = new RobotsClient({
    agent: 'ExampleBot',
    transport: { fetch: async () => new Response(TEXT) },
    ...options,
  });
  const guarded = guardFetch(async (_url: string) => new Response('a page'), client);
  await client.check('https://a.example/private');
  client.permits('https://a.example/page');
  client.peek('https://a.example/page');
  await guarded('https://a.example/page');
  client.report('https://b.example/', { reachable: true });
  await client.invalidate('https://a.example/');
  await client.close();
  return Object.fromEntries(spies.map(([name, spy]) => [name, spy.mock.calls.length]));
}

describe('a client without the option `evidence`', () => {
  it('computes no field of it', async () => {
    const counted = await calls({});
    expect(Object.values(counted).every((times) => times === 0)).toBe(true);
  });

  it('computes it otherwise, which the count shows', async () => {
    const counted = await calls({ evidence: () => undefined });
    expect(counted).toEqual({
      onAttempt: 1,
      onRecordRestored: 0,
      // From the caller, and from the guard's response.
      onSiteSignal: 2,
      onRemoved: 1,
      onDecisionMade: 4,
      onDecisionPublished: 4,
      onIgnored: 0,
      onRequest: 1,
    });
  });
});
