import { expect, it } from 'vitest';
import { type Decision, describeDecision } from '../../../src/index.ts';

const BASE = {
  url: 'https://user:secret@example.com/private',
  origin: 'https://example.com',
  agent: 'ExampleBot',
  profile: 'rfc9309',
  robots: {
    url: 'https://example.com/robots.txt',
    finalUrl: 'https://example.com/robots.txt',
    hops: 0,
    source: 'memory',
  },
} as const;
const rule = { directive: 'disallow', pattern: '/private', line: 2 } as const;
const retryAt = Date.UTC(2026, 0, 15, 12);

it.each<[Partial<Decision> & { readonly reason: Decision['reason']; readonly because?: string }, string]>([
  [
    { reason: 'rule', allowed: false, rule },
    'robots.txt of https://example.com disallows https://example.com/private for ExampleBot (line 2: "disallow: /private")',
  ],
  [
    { reason: 'no-group', allowed: true },
    'robots.txt of https://example.com allows https://example.com/private for ExampleBot (no group names the agent, and there is no "*" group)',
  ],
  [
    { reason: 'unavailable', allowed: true, robots: { ...BASE.robots, status: 404 } },
    'robots.txt of https://example.com is unavailable (404), so https://example.com/private may be fetched',
  ],
  [
    { reason: 'unreachable', allowed: false, retryAt, robots: { ...BASE.robots, status: 503 } },
    'robots.txt of https://example.com is unreachable (503), so https://example.com/private may not be fetched; retry after 2026-01-15T12:00:00.000Z',
  ],
  [
    { reason: 'unreachable-expired', allowed: true, robots: { ...BASE.robots, error: 'ECONNREFUSED' } },
    'robots.txt of https://example.com has been unreachable for too long (the server refused the connection, ECONNREFUSED), so https://example.com/private may be fetched',
  ],
  [
    { reason: 'override', allowed: false, because: 'agreed with the owner' },
    'https://example.com/private may not be fetched by ExampleBot: the crawler has its own answer for this site, in place of robots.txt (agreed with the owner)',
  ],
  [
    {
      reason: 'unavailable',
      allowed: true,
      usage: { purpose: 'train-ai', preference: 'unknown', aipref: {}, contentSignal: {} } as never,
    },
    'https://example.com allows ExampleBot to fetch https://example.com/private, and says nothing about train-ai',
  ],
  [
    { reason: 'robots-txt', allowed: true },
    'https://example.com/private is robots.txt itself, which may always be fetched',
  ],
])('says %j in one sentence', (decision, sentence) => {
  expect(describeDecision({ ...BASE, state: 'rules', ...decision } as Decision)).toBe(sentence);
});
