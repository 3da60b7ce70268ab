import { describe, expect, it } from 'vitest';
import { RobotsClosedError, RobotsInvalidUrlError } from '../../../src/core/base/index.ts';
import { assertOwnSite } from '../../../src/apps/serve/own-site.ts';
import type { Exchange } from '../../../src/apps/serve/exchange.ts';
import { Problem, problemOf } from '../../../src/apps/serve/reply.ts';
import { routes } from '../../../src/apps/serve/server.ts';

describe('the limit of large answers', () => {
  const explain = routes.get('/v1/explain')!.GET!;
  const exchange = (signal: AbortSignal, largeAnswers: number) => {
    const service = { limits: { largeAnswers: 2 }, largeAnswers };
    return { service, query: new URLSearchParams('unknown=1'), signal } as unknown as Exchange;
  };

  it('does not count a request whose client has left', async () => {
    const gone = exchange(AbortSignal.abort(new Error('left')), 0);
    await expect(explain(gone)).rejects.toThrow('left');
    expect(gone.service.largeAnswers).toBe(0);
  });
});

describe('the problem of an error', () => {
  it.each([
    [new RobotsClosedError(), 503, 'ERR_ROBOTS_CLOSED'],
    [new RobotsInvalidUrlError('no URL'), 400, 'ERR_ROBOTS_INVALID_URL'],
    [new Problem(404, 'ERR_ROBOTS_NOT_FOUND', 'nothing'), 404, 'ERR_ROBOTS_NOT_FOUND'],
  ])('%s has a status and its code', (error, status, code) => {
    expect(problemOf(error)).toMatchObject({ status, code, message: error.message });
  });

  it.each([new Error('unexpected'), 'text', undefined])('is none for %s', (error) => {
    expect(problemOf(error)).toBeUndefined();
  });
});

describe('the page of this service', () => {
  const post = (headers: Readonly<Record<string, string>>) => (): void =>
    assertOwnSite({ method: 'POST', headers } as never, '/v1/check');

  it('is known by its origin, in any case', () => {
    expect(post({ host: 'Robots.internal:80', origin: 'HTTP://ROBOTS.INTERNAL:80' })).not.toThrow();
    expect(post({ host: 'robots.internal:80', origin: 'http://robots.internal' })).toThrow(
      expect.objectContaining({ status: 403, code: 'ERR_ROBOTS_FOREIGN_SITE' }),
    );
  });
});
