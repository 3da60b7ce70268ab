import { describe, expect, it } from 'vitest';
import { candidates, parseHosts, parseResolverFile } from '../../../../src/core/net/dns/system-config.ts';

describe('hosts(5)', () => {
  it('has all addresses of each name, once, in lower case and without comments', () => {
    const hosts = parseHosts(
      [
        '  127.0.0.1\tlocalhost  Loop.Example # a comment',
        '::1 localhost',
        '127.0.0.1 localhost',
        '# 10.0.0.1 commented',
        'nonsense a.example',
        '10.0.0.2',
        '',
        '10.0.0.3 last.example#comment',
      ].join('\r\n'),
    );
    expect(Object.fromEntries(hosts)).toEqual({
      localhost: ['127.0.0.1', '::1'],
      'loop.example': ['127.0.0.1'],
      'last.example': ['10.0.0.3'],
    });
  });
});

describe('resolv.conf(5)', () => {
  it.each<[text: string, search: readonly string[], ndots: number]>([
    ['', [], 1],
    ['search a.example B.example.', ['a.example', 'b.example'], 1],
    ['  search  a.example # b.example', ['a.example'], 1],
    ['domain a.example b.example', ['a.example'], 1],
    ['search a.example\ndomain b.example', ['b.example'], 1],
    ['domain b.example\rsearch a.example ..', ['a.example'], 1],
    ['options ndots:0', [], 0],
    ['options timeout:1 ndots:5 rotate', [], 5],
    ['options ndots:15', [], 15],
    ['options ndots:16', [], 15],
    ['options ndots:5x', [], 1],
    ['options xndots:5', [], 1],
    ['; options ndots:5', [], 1],
    ['ndots:5', [], 1],
  ])('%j', (text, search, ndots) => {
    expect(parseResolverFile(text)).toEqual({ search, ndots });
  });

  it('has at most 32 search domains', () => {
    const domains = Array.from({ length: 33 }, (_, at) => `d${at}.example`);
    expect(parseResolverFile(`search ${domains.join(' ')}`).search).toEqual(domains.slice(0, 32));
  });
});

describe('the names to try', () => {
  const configuration = { search: ['a.example', 'b.example'], ndots: 2 };

  it.each<[name: string, names: readonly string[]]>([
    ['x', ['x.a.example', 'x.b.example', 'x']],
    ['x.y', ['x.y.a.example', 'x.y.b.example', 'x.y']],
    ['x.y.z', ['x.y.z', 'x.y.z.a.example', 'x.y.z.b.example']],
    ['x.', ['x']],
  ])('for %s are %j', (name, names) => {
    expect(candidates(name, configuration)).toEqual(names);
  });

  it('are at most 253 characters long', () => {
    const [fits, isTooLong] = ['x'.repeat(243), 'x'.repeat(244)];
    expect(candidates(fits, configuration)).toEqual([`${fits}.a.example`, `${fits}.b.example`, fits]);
    expect(candidates(isTooLong, configuration)).toEqual([isTooLong]);
  });
});
