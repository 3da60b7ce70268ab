import { describe, expect, it } from 'vitest';
import { gatekeeperIn } from '../../../src/core/lifecycle/index.ts';

describe('the gatekeeper that responded in place of a site', () => {
  it.each([
    ['cloudflare', 403, { 'CF-Mitigated': 'challenge' }],
    ['cloudflare', 200, { 'cf-mitigated': 'block' }],
    ['vercel', 429, { 'x-vercel-mitigated': 'challenge' }],
    ['vercel', 403, { 'x-vercel-mitigated': 'deny' }],
    ['aws-waf', 202, { 'x-amzn-waf-action': 'challenge' }],
    ['aws-waf', 405, { 'x-amzn-waf-action': 'captcha' }],
    ['datadome', 403, { 'X-DD-B': '1', 'X-DataDome': 'protected' }],
    ['akamai', 403, { Server: 'AkamaiGHost' }],
  ])('is %s by its own field: %i %j', (name, status, headers) => {
    expect(gatekeeperIn({ status, headers })).toBe(name);
  });

  it.each([
    ['a site behind Cloudflare', 403, { server: 'cloudflare', 'cf-ray': '8f02-LHR' }],
    ['a site behind DataDome', 403, { 'x-datadome': 'protected' }],
    [
      'a site behind Imperva',
      403,
      { 'x-iinfo': '9-49176764-0 0CNN RT(1426425483129 667) q(0 -1 -1 -1) r(0 -1)' },
    ],
    ['a redirect of Akamai', 301, { server: 'AkamaiGHost' }],
    ['a form that allows no POST', 405, {}],
    ['an accepted task', 202, { 'x-amzn-requestid': '1' }],
  ])('is not taken to be there for %s', (_, status, headers) => {
    expect(gatekeeperIn({ status, headers })).toBeUndefined();
  });
});
