import { describe, expect, it } from 'vitest';
import {
  refusalFor,
  refusalIn,
  refusalOf,
  RobotsDisallowedError,
  RobotsUnreachableError,
  RobotsUsageError,
} from '../../../src/core/client/refusal-errors.ts';
import { usageOf } from '../../../src/core/decision/index.ts';
import {
  type Decision,
  refusalIn as publicRefusalIn,
  RobotsAddressRefusedError,
  RobotsDeferredError,
} from '../../../src/index.ts';
import type { HeaderFields } from '../../../src/core/base/index.ts';
import { parseRobots } from '../../../src/core/rules/index.ts';

const BASE = {
  url: 'https://example.com/private',
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
const DISALLOWED: Decision = {
  ...BASE,
  state: 'rules',
  allowed: false,
  reason: 'rule',
  group: { agent: '*', lines: [1] },
  rule: { directive: 'disallow', pattern: '/private', line: 2 },
};
const UNREACHABLE: Decision = { ...BASE, state: 'disallow-all', allowed: false, reason: 'unreachable' };
const RESTRICTED: Decision = { ...BASE, state: 'disallow-all', allowed: false, reason: 'restricted' };

describe('the error of a guard', () => {
  it('names the rule, or else the reason', () => {
    const error = refusalFor(DISALLOWED);
    expect(error).toBeInstanceOf(RobotsDisallowedError);
    expect(error).toMatchObject({
      name: 'RobotsDisallowedError',
      code: 'ERR_ROBOTS_DISALLOWED',
      decision: DISALLOWED,
      message:
        'robots.txt of https://example.com disallows https://example.com/private for ExampleBot (line 2: "disallow: /private")',
    });
    expect(refusalFor(RESTRICTED)).toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
      message:
        'access to robots.txt of https://example.com is restricted (no response), so https://example.com/private may not be fetched',
    });
  });

  it.each<[Partial<Decision['robots']>, string, string?]>([
    [{}, 'no response'],
    [
      { error: 'ENOTFOUND' },
      'the host name does not exist, ENOTFOUND',
      '; a second try failed, too, so this is for good',
    ],
    [
      { status: 200, error: 'ERR_ROBOTS_CONTENT_CODING' },
      '200, the file is compressed in a way that cannot be read, ERR_ROBOTS_CONTENT_CODING',
    ],
    [{ error: 'ERR_ROBOTS_STATUS', status: 503 }, '503'],
  ])('names what came in place of robots.txt: %j', (robots, what, forGood = '') => {
    const error = refusalFor({ ...UNREACHABLE, robots: { ...BASE.robots, ...robots } } as Decision);
    expect(error).toBeInstanceOf(RobotsUnreachableError);
    expect(error).toMatchObject({ code: 'ERR_ROBOTS_UNREACHABLE', retryAt: undefined });
    expect(error.message).toBe(
      `robots.txt of https://example.com is unreachable (${what}), so https://example.com/private may not be fetched${forGood}`,
    );
  });

  it('has the failure of the attempt as its cause, with the code, and the status of a site that has responded', () => {
    const causeOf = (robots: object): unknown =>
      refusalFor({ ...UNREACHABLE, robots: { ...BASE.robots, ...robots } } as Decision).cause;
    expect(causeOf({ error: 'ECONNREFUSED' })).toMatchObject({
      code: 'ECONNREFUSED',
      message: 'the server refused the connection, ECONNREFUSED',
    });
    expect(causeOf({ error: 'DEPTH_ZERO_SELF_SIGNED_CERT' })).toMatchObject({
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
    expect(causeOf({ error: 'ERR_ROBOTS_STATUS', status: 503 })).toMatchObject({
      code: 'ERR_ROBOTS_STATUS',
      status: 503,
      message: 'robots.txt was answered with status 503',
    });
  });

  it('names what the caller can do', () => {
    const robots = { ...BASE.robots, error: 'ERR_ROBOTS_HTTP2_ONLY' };
    expect(refusalFor({ ...UNREACHABLE, robots } as Decision).message).toMatch(
      /HTTP\/2 only, ERR_ROBOTS_HTTP2_ONLY\).*; give the client `dispatcher: new Agent\(\{ allowH2: true \}\)`$/,
    );
  });

  it.each<[redirects: string[], lead: string]>([
    [[], 'https://example.com/start redirects to https://example.com/private: '],
    [
      ['https://example.com/b', 'https://example.com/c'],
      'https://example.com/start leads to https://example.com/private by 3 redirects: ',
    ],
  ])('names the URL that was asked for first, before %j', (redirects, lead) => {
    const way = { requested: 'https://example.com/start', redirects };
    for (const decision of [DISALLOWED, UNREACHABLE, RESTRICTED]) {
      expect(refusalFor(decision, way)).toMatchObject(way);
      expect(refusalFor(decision, way).message).toBe(lead + refusalFor(decision).message);
    }
    const deferred = new RobotsDeferredError(DISALLOWED, { retryAt: 0, delayFrom: 'crawl-delay' }, way);
    expect(deferred).toMatchObject(way);
    expect(deferred.message).toMatch(lead);
    expect(refusalFor(DISALLOWED)).toMatchObject({ requested: DISALLOWED.url, redirects: [] });
  });

  it('has no user name and password in its message, and the URLs as the caller gave them', () => {
    const url = 'https://user:secret@example.com/private';
    const way = { requested: 'https://user:secret@example.com/start', redirects: [url] };
    const usage = usageOf(BASE, parseRobots('User-agent: *\nContent-Usage: train-ai=n\n'), 'train-ai');
    const refusals = [DISALLOWED, UNREACHABLE, RESTRICTED, { ...DISALLOWED, allowed: true, usage }];
    for (const decision of refusals as Decision[]) {
      const refused = { ...decision, url };
      for (const error of [
        refusalFor(refused, way),
        refusalFor(refused, { ...way, redirects: [] }),
        new RobotsDeferredError(refused, { retryAt: 0, delayFrom: 'crawl-delay' }, way),
      ]) {
        expect(error.message).toContain('https://example.com/private');
        expect(error.message).not.toMatch(/user|secret/);
        expect(error.requested).toBe(way.requested);
      }
      expect(refusalFor(refused).decision.url).toBe(url);
    }
  });
});

describe('the error of a guard with a purpose', () => {
  const ALLOWED: Decision = {
    ...BASE,
    state: 'rules',
    allowed: true,
    reason: 'no-rule',
    group: { agent: '*', lines: [1] },
  };
  const START = 'https://example.com allows ExampleBot to fetch https://example.com/private, and ';
  const messageFor = (text: string, headers?: HeaderFields): string => {
    const usage = usageOf(BASE, parseRobots(text), 'train-ai', headers);
    const error = refusalFor({ ...ALLOWED, usage });
    expect(error).toBeInstanceOf(RobotsUsageError);
    expect(error).toMatchObject({ code: 'ERR_ROBOTS_USAGE', usage });
    return error.message;
  };

  it('names the line of robots.txt, or the header field', () => {
    expect(messageFor('User-agent: *\nContent-Usage: train-ai=n\n')).toBe(
      `${START}disallows train-ai (robots.txt line 2 "content-usage: train-ai=n")`,
    );
    expect(messageFor('', { 'content-usage': 'train-ai=n' })).toBe(
      `${START}disallows train-ai (header field "content-usage: train-ai=n")`,
    );
  });

  it('cuts the statement after 200 characters', () => {
    const value = `train-ai=n, x="${'x'.repeat(300)}"`;
    expect(messageFor('', { 'Content-Usage': value })).toContain(`: ${value.slice(0, 200)}")`);
  });

  it('says that there is no statement', () => {
    expect(messageFor('')).toBe(`${START}says nothing about train-ai, and \`onUnknownPurpose\` is 'refuse'`);
  });
});

describe('the refusal in', () => {
  const refused = refusalFor(DISALLOWED);

  it('an error is itself, or a cause of it at any depth, a deferral, too', () => {
    const deferred = new RobotsDeferredError(DISALLOWED, { retryAt: 1, delayFrom: 'back-off' });
    for (const each of [refused, deferred]) {
      expect(refusalIn(each)).toBe(each);
      const wrapped = new TypeError('fetch failed', { cause: new Error('twice', { cause: each }) });
      expect(refusalIn(wrapped)).toBe(each);
    }
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'ERR_ROBOTS_DISALLOWED'],
    ['another error', new Error('x')],
    ['an error that took over the code', Object.assign(new Error('x'), { code: 'ERR_ROBOTS_DISALLOWED' })],
    ['another error of the family', new RobotsAddressRefusedError('10.0.0.1', 'a private address')],
    ['an answer of the site', new Response()],
    ['an error with an answer of the site', Object.assign(new Error('x'), { response: new Response() })],
    ['an error with no answer', Object.assign(new Error('x'), { response: null })],
  ])('%s is none', (_, value) => {
    expect(refusalIn(value)).toBeUndefined();
    expect(refusalOf(value)).toBeUndefined();
  });

  it('a wrapper with the same code is the error that it wraps', () => {
    const wrapper = Object.assign(new Error('x', { cause: refused }), { code: refused.code });
    expect(refusalIn(wrapper)).toBe(refused);
  });
});

describe('a private address', () => {
  const refused = (hops: number): Decision => ({
    ...BASE,
    state: 'disallow-all',
    allowed: false,
    reason: 'unreachable',
    robots: { ...BASE.robots, hops, error: 'ERR_ROBOTS_ADDRESS_REFUSED' },
  });

  it.each([
    [0, "its address is private; `addressPolicy: 'any'`, or --allow-private, permits such addresses"],
    [1, 'the server redirects from a public to a private address'],
  ])('after %i redirects is named, without a time to try again', (hops, what) => {
    const refusal = refusalFor(refused(hops));
    expect(refusal.message).toBe(
      `robots.txt of https://example.com is unreachable (${what}, ERR_ROBOTS_ADDRESS_REFUSED), so https://example.com/private may not be fetched`,
    );
    expect(refusal).toMatchObject({ code: 'ERR_ROBOTS_UNREACHABLE', retryAt: undefined });
  });

  it('of a page is found by `refusalIn`, which has no decision for it', () => {
    const error = new RobotsAddressRefusedError('localhost', 'loopback');
    const wrapped = new TypeError('fetch failed', { cause: error });
    expect(publicRefusalIn(wrapped)).toBe(error);
    expect(publicRefusalIn(error)?.decision).toBeUndefined();
    expect(publicRefusalIn(Object.assign(new Error('x'), { code: error.code }))).toBeUndefined();
    const [first] = [refusalFor(DISALLOWED)];
    expect(publicRefusalIn(new Error('x', { cause: first }))).toBe(first);
  });
});
