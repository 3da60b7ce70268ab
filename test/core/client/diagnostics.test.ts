import { describe, expect, it } from 'vitest';
import {
  type CacheMessage,
  type DecisionMessage,
  type FetchMessage,
  type PolicyChangeMessage,
  type RobotsClientOptions,
  guardFetch,
} from '../../../src/index.ts';
import { cacheChannels } from '../../../src/core/cache/cache-events.ts';
import { decisionChannels } from '../../../src/core/decision/index.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/client.ts';
import { heard } from '../../support/heard.ts';
import { openedClient } from '../../support/opened.ts';

/** A client whose robots.txt answers come from a list; the last one stays. */
function scripted(answers: (() => Response)[], options: RobotsClientOptions = {}) {
  const asked: string[] = [];
  const { robots: client, clock } = openedClient({
    transport: {
      fetch: (url) => {
        asked.push(url);
        return Promise.resolve((answers.length > 1 ? answers.shift()! : answers[0]!)());
      },
    },
    ...options,
  });
  return { client, clock, asked };
}

const file = (text: string) => () => new Response(text);
const URL_A = 'https://a.example/page';

describe('diagnostics channels', () => {
  it('canfetch:fetch has the outcome and the duration of each attempt', async () => {
    const messages = heard<FetchMessage>('canfetch:fetch');
    const { client, clock } = scripted([
      () => {
        clock.advance(250);
        return new Response('User-agent: *', { headers: { etag: '"1"' } });
      },
      () => new Response(null, { status: 304 }),
      () => new Response(null, { status: 503 }),
    ]);
    const startedAt = clock.now();
    await client.canFetch(URL_A);
    clock.advance(DAY + SECOND);
    await client.canFetch(URL_A);
    clock.advance(DAY + SECOND);
    await client.canFetch(URL_A);
    const about = { origin: 'https://a.example', url: 'https://a.example/robots.txt' };
    expect(messages).toMatchObject([
      {
        ...about,
        startedAt,
        durationMs: 250,
        revalidation: false,
        outcome: { kind: 'success', status: 200 },
      },
      { ...about, durationMs: 0, revalidation: true, outcome: { kind: 'not-modified' } },
      { ...about, revalidation: true, outcome: { kind: 'unreachable', status: 503 } },
    ]);
  });

  it('canfetch:fetch as JSON has the number of bytes in place of the body, which subscribers still have', async () => {
    const messages = heard<FetchMessage>('canfetch:fetch');
    const { client } = scripted([file('User-agent: *')]);
    await client.canFetch(URL_A);
    const { outcome } = messages[0]!;
    expect(outcome?.kind === 'success' && new TextDecoder().decode(outcome.body)).toBe('User-agent: *');
    expect(JSON.parse(JSON.stringify(messages[0]))).toMatchObject({
      outcome: { kind: 'success', bytes: 13 },
    });
    expect(JSON.stringify(messages[0])).not.toContain('body');
  });

  it('an attempt whose callers have all aborted has no outcome', async () => {
    const messages = heard<FetchMessage>('canfetch:fetch');
    const leaving = new AbortController();
    const { robots: client } = openedClient({
      transport: {
        fetch: (_, init) =>
          new Promise((__, reject) => {
            init.signal.addEventListener('abort', () => reject(init.signal.reason as Error));
            leaving.abort();
          }),
      },
    });
    await expect(client.check(URL_A, undefined, { signal: leaving.signal })).rejects.toThrow('aborted');
    await expect.poll(() => messages).toMatchObject([{ origin: 'https://a.example', outcome: undefined }]);
  });

  it('canfetch:decision has every decision, of guards too', async () => {
    const messages = heard<DecisionMessage>('canfetch:decision');
    const { client, clock } = scripted([file('User-agent: *\nDisallow: /private')]);
    await client.canFetch(URL_A);
    await client.canFetch(URL_A);
    client.peek('https://a.example/private');
    const page = (_url: string): Promise<Response> => Promise.resolve(new Response());
    await guardFetch(page, client, { clock })(URL_A);
    expect(messages.map(({ decision }) => [decision.url, decision.allowed, decision.robots.source])).toEqual([
      [URL_A, true, 'network'],
      [URL_A, true, 'memory'],
      ['https://a.example/private', false, 'memory'],
      [URL_A, true, 'memory'],
    ]);
  });

  it('canfetch:cache has hits, misses, refreshes and evictions', async () => {
    const messages = heard<CacheMessage>('canfetch:cache');
    const { client, clock } = scripted([file('')], { cache: { maxOrigins: 1 } });
    await client.canFetch(URL_A);
    await client.canFetch(URL_A);
    clock.advance(23 * HOUR);
    await client.canFetch(URL_A);
    await client.canFetch('https://b.example/');
    expect(messages.map(({ origin, event }) => `${new URL(origin).hostname} ${event}`)).toEqual([
      'a.example miss',
      'a.example hit',
      'a.example refresh',
      'a.example hit',
      'b.example miss',
      'a.example evict',
    ]);
  });

  it('canfetch:policy-change is published when other rules or another state are in force, and only then', async () => {
    const messages = heard<PolicyChangeMessage>('canfetch:policy-change');
    const { client, clock } = scripted([
      file('User-agent: *'),
      file('User-agent: *'),
      file('User-agent: *\nDisallow: /'),
      () => new Response(null, { status: 500 }),
      () => new Response(null, { status: 404 }),
    ]);
    for (let day = 0; day < 5; day++) {
      await client.canFetch(URL_A);
      clock.advance(DAY + MINUTE);
    }
    expect(messages.map(({ before, after, fileChanged }) => [before, after, fileChanged])).toEqual([
      ['unknown', 'rules', true],
      ['rules', 'rules', true],
      ['rules', 'last-good', false],
      ['last-good', 'allow-all', true],
    ]);
    expect(messages[3]?.at).toBe(clock.now() - DAY - MINUTE);
  });

  it('no message is made without a subscriber', async () => {
    const { client } = scripted([file('')]);
    await client.canFetch(URL_A);
    const channels = { ...cacheChannels, ...decisionChannels };
    expect(Object.values(channels).filter(({ hasSubscribers }) => hasSubscribers)).toEqual([]);
    expect(client.permits(URL_A)).toBe(true);
    heard('canfetch:decision');
    expect(client.permits(URL_A)).toBeUndefined();
  });
});
