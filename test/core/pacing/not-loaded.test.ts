import { expect, it, vi } from 'vitest';

it('a pacer that cannot be loaded fails who paces, and neither reports nor the end of the client', async () => {
  vi.resetModules();
  vi.doMock('../../../src/core/pacing/pacer.ts', () => ({
    get Pacer(): never {
      throw new Error('EMFILE');
    },
  }));
  const unhandled = vi.fn();
  process.prependListener('unhandledRejection', unhandled);
  const { RobotsClient } = await import('../../../src/index.ts');
  const fetch = (): Promise<Response> => Promise.resolve(new Response(''));
  const robots = new RobotsClient({ agent: 'ExampleBot', transport: { fetch } });
  robots.report('https://a.example/', { reachable: true, retryAfter: '60' });
  await expect(robots.reserve('https://a.example/')).rejects.toThrow('EMFILE');
  robots.report('https://a.example/', { reachable: true, retryAfter: '60' });
  await robots.close();
  // Rejections are told of after the microtasks.
  await new Promise((resolve) => setImmediate(resolve));
  process.removeListener('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});
