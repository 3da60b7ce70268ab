import { describe, expect, it } from 'vitest';
import { robotsInterceptor } from '../../src/guard/undici.ts';
import { type GetPage, guardContract } from './contract.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
/** undici 8 loads from Node 22.19 on. */
const loads = major > 22 || (major === 22 && minor >= 19);

if (loads) {
  const { Agent, fetch, interceptors, request } = await import('undici-8');

  guardContract({
    name: 'robotsInterceptor under request of undici 8',
    waitsAtRedirects: true,
    make: (robots, options) => {
      const agent = new Agent();
      const dispatcher = agent.compose(
        interceptors.dns(),
        robotsInterceptor(robots, options),
        interceptors.redirect({ maxRedirections: 20 }),
      );
      return {
        get: async (url, init = {}) => {
          const { statusCode, body } = await request(url, { ...init, dispatcher });
          return { status: statusCode, body: await body.text() };
        },
        close: () => agent.destroy(),
      };
    },
  });

  guardContract({
    name: 'robotsInterceptor under the fetch of undici 8',
    waitsAtRedirects: true,
    make: (robots, options) => {
      const agent = new Agent();
      const dispatcher = agent.compose(robotsInterceptor(robots, options));
      const get: GetPage = async (url, init = {}) => {
        const response = await fetch(url, { ...init, dispatcher });
        return { status: response.status, body: await response.text() };
      };
      return { get, close: () => agent.destroy() };
    },
  });
} else {
  describe.skip(`robotsInterceptor with undici 8 (skipped: it needs Node 22.19, this is ${process.version})`, () => {
    it('keeps the contract of guards', () => expect(loads).toBe(true));
  });
}
