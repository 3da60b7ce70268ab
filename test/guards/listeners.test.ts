import { expect, it, vi } from 'vitest';
import { guardFetch } from '../../src/index.ts';
import { echo, pagesOf, ScriptedClient, site } from './support.ts';

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
    const robots = new ScriptedClient();
    const guarded = guardFetch(fetch, robots, {
      agent: 'ExampleBot',
      onRefusal: listener,
      onIgnored: listener,
      onIdentity: listener,
    });
    await expect(guarded(server.url('/private'))).rejects.toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
    const init: object = {
      robots: { ignore: true, because: 'a test' },
      headers: { 'user-agent': 'OtherBot/1' },
    };
    expect((await guarded(server.url('/private'), init)).status).toBe(200);
    expect(pagesOf(server)).toEqual(['GET /private']);
  },
);

it('the process was warned once of each', () => {
  const messages = warned.mock.calls.map(([message]) => String(message));
  for (const name of ['onRefusal', 'onIgnored', 'onIdentity']) {
    expect(
      messages.filter((message) => message.startsWith(`\`${name}\` failed: Error: broken`)),
    ).toHaveLength(1);
  }
});
