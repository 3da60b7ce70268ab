import { describe, expect, it } from 'vitest';
import type { RobotsClientOptions } from '../../../src/index.ts';
import { DAY } from '../../support/client.ts';
import type { Answer } from '../../support/site.ts';
import { answering } from '../../support/opened.ts';

async function setUp(answers: Answer | readonly Answer[], options?: RobotsClientOptions) {
  const { robots, server, clock } = await answering(answers, options);
  return { client: robots, site: server, clock };
}

const page = (title: string): Answer => ({
  headers: { 'content-type': 'text/html', etag: '"1"' },
  body: `<!doctype html><title>${title}</title>`,
});
const RULES: Answer = { body: 'User-agent: *\nDisallow: /x\n' };

describe('policy() of an origin that answers with a page', () => {
  it('has no suspicion about a robots.txt, also after a page', async () => {
    const { client, clock, site } = await setUp([page('Home'), RULES]);
    expect(await client.policy(site.origin)).toMatchObject({ state: 'rules', suspect: 'html' });
    clock.advance(DAY);
    expect(await client.policy(site.origin)).not.toHaveProperty('suspect');
  });

  it('has the suspicion about a page that a 304 confirms, and beside a failure', async () => {
    const { client, clock, site } = await setUp([page('Home'), { status: 304 }, { status: 500 }]);
    await client.policy(site.origin);
    clock.advance(DAY);
    expect(await client.policy(site.origin)).toMatchObject({ state: 'rules', suspect: 'html' });
    clock.advance(DAY);
    expect(await client.policy(site.origin)).toMatchObject({ state: 'last-good', suspect: 'html' });
    expect(site.requests).toHaveLength(3);
  });
});
