import { createPublicKey, type KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { verify } from 'web-bot-auth';
import { verifierFromJWK } from 'web-bot-auth/crypto';
import { guardFetch, refusalIn, RobotsClient } from '../../src/index.ts';
import { opened, openedSite } from '../support/opened.ts';
import { answer, type Site } from '../support/site.ts';

interface SignedBot {
  readonly signingFetch: typeof fetch;
  readonly privateKey: KeyObject;
}

/** The recipe for a signed bot as it stands in the guide, without its client. */
async function signedBot(): Promise<SignedBot> {
  const guide = readFileSync(new URL('../../src/guards/README.md', import.meta.url), 'utf8');
  const [, block = ''] = /### A signed bot\n.*?```ts\n(.*?)```/s.exec(guide) ?? [];
  const source = block.replace(/\nconst robots = .*/s, '').replace(/^import .* from 'canfetch';\n/m, '');
  const folder = new URL(`../../build/signed-bot-${process.pid}/`, import.meta.url);
  const file = new URL('recipe.ts', folder);
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(file, `${source}\nexport { privateKey, signingFetch };\n`);
    return await import(file.pathname);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

it('the recipe for a signed bot signs robots.txt, each page and each redirect for its own host, and nothing that is refused', async () => {
  const second = await openedSite(({ url }, response) =>
    answer(response, { body: url === '/robots.txt' ? 'User-agent: *\nDisallow: /private' : 'a page' }),
  );
  const first = await openedSite(({ url }, response) => {
    const location = { '/robots.txt': '/rules', '/to': '/on', '/on': second.url('/page') }[url ?? ''];
    if (location !== undefined) answer(response, { status: 302, headers: { location } });
    else answer(response, { body: 'User-agent: *\nAllow: /' });
  });
  const { privateKey, signingFetch } = await signedBot();
  const transport = { fetch: signingFetch };
  const robots = opened(new RobotsClient({ agent: 'ExampleBot/1.0', transport }));
  const guarded = guardFetch(signingFetch, robots);
  expect(await (await guarded(first.url('/to'))).text()).toBe('a page');
  const refused = await guarded(second.url('/private')).catch((error: unknown) => error);
  expect(refusalIn(refused)?.code).toBe('ERR_ROBOTS_DISALLOWED');
  expect(first.requests.map(({ url }) => url)).toEqual(['/robots.txt', '/rules', '/to', '/on']);
  expect(second.requests.map(({ url }) => url)).toEqual(['/robots.txt', '/page']);
  const verifier = await verifierFromJWK(createPublicKey(privateKey).export({ format: 'jwk' }));
  const verified = (site: Site, host = site.origin): Promise<void>[] =>
    site.requests.map(({ url = '', headers }) => {
      const { signature, 'signature-input': input, 'signature-agent': agent, 'user-agent': name } = headers;
      expect([agent, name]).toEqual(['"https://bot.example.com"', 'ExampleBot/1.0']);
      const fields = { signature, 'signature-input': input, 'signature-agent': agent } as Record<
        string,
        string
      >;
      return verify(new Request(host + url, { headers: fields }), verifier);
    });
  await Promise.all([...verified(first), ...verified(second)]);
  await Promise.all(verified(first, second.origin).map((other) => expect(other).rejects.toThrow()));
});
