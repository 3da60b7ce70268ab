import { afterEach, describe, expect, it } from 'vitest';
import { RobotsClient } from '../../src/client/index.ts';
import type { EvidenceEntry } from '../../src/evidence/entry.ts';
import { replay, type ReplayDifference } from '../../src/evidence/index.ts';
import { storedBody } from '../../src/store/record/stored-body.ts';

const entries: EvidenceEntry[] = [];
afterEach(() => void entries.splice(0));

const lines = (): string[] =>
  entries.map((entry, n) =>
    JSON.stringify(
      'body' in entry && entry.body ? { ...entry, body: storedBody(entry.body), n } : { ...entry, n },
    ),
  );

describe('replay', () => {
  it('agrees with what a client decided', async () => {
    let status = 200;
    const robots = new RobotsClient({
      agent: 'ExampleBot',
      evidence: (entry) => void entries.push(entry),
      transport: {
        fetch: async () => new Response('User-agent: *\nDisallow: /private', { status }),
      },
    });
    await robots.check('https://a.example/private/x');
    await robots.canFetch('https://a.example/page');
    robots.permits('https://a.example/private/y');
    status = 503;
    await robots.check('https://b.example/');
    await robots.invalidate('https://a.example/');
    status = 404;
    await robots.check('https://a.example/private/x');
    await robots.close();
    const differences: ReplayDifference[] = [];
    const report = await replay(lines(), { onDifference: (one) => void differences.push(one) });
    expect(differences).toEqual([]);
    expect(report).toMatchObject({ runs: 1, decisions: 5, changed: 0, faults: 0 });
  });
});
