import { describe, expect, it } from 'vitest';
import { type Dialect, dialects } from '../../../src/core/rules/dialect.ts';
import { GroupWalk } from '../../../src/core/rules/group-walk.ts';

/** For each line: its group and its block (`-` outside any), `+` where a group starts, `…` while it takes agents. */
function walked(dialect: Dialect, ...lines: string[]): string {
  const walk = new GroupWalk(new TextEncoder().encode(lines.join('\n')), dialects[dialect]);
  const number = (index: number): string => (index < 0 ? '-' : `${index}`);
  const seen: string[] = [];
  const look = (): void => {
    const marks = `${walk.startsGroup ? '+' : ''}${walk.acceptsAgents ? '…' : ''}`;
    seen.push(`${number(walk.group)}${number(walk.block)}${marks}`);
  };
  look();
  while (walk.next()) look();
  return seen.slice(0, lines.length + 1).join(' ');
}

describe('the walk over the groups and blocks of a file', () => {
  it('begins outside all groups', () => {
    expect(walked('rfc9309', 'Disallow: /', 'Host: x', 'User-agent: a')).toBe('-- -- -- 00+…');
  });

  it.each(['Allow: /x', 'Disallow: /x', 'Disallow:'])('RFC 9309 §2.1: %s ends a run of agents', (rule) => {
    expect(walked('rfc9309', 'User-agent: a', 'User-agent: b', rule, rule, 'User-agent: c')).toBe(
      '-- 00+… 00… 00 00 11+…',
    );
  });

  it('ends a block, but not a run of agents, with any other record', () => {
    expect(walked('rfc9309', 'User-agent: a', 'Crawl-delay: 5', 'User-agent: b', 'Disallow: /')).toBe(
      '-- 00+… 00… 01… 01',
    );
  });

  it.each(['Sitemap: https://example.com/s', '# comment', '', 'no line of any kind'])(
    'passes over %j',
    (line) => {
      expect(walked('rfc9309', 'User-agent: a', line, 'User-agent: b')).toBe('-- 00+… 00… 00…');
    },
  );

  it('robotstxt.org: "you may not have blank lines in a record", which they end with its blocks', () => {
    for (const dialect of ['koster-1996', 'robotstxt-1994'] as const) {
      expect(walked(dialect, 'User-agent: a', '', 'Disallow: /', 'User-agent: b', 'Disallow: /')).toBe(
        '-- 00+… -- -- 11+… 11',
      );
      // A comment is no blank line.
      expect(walked(dialect, 'User-agent: a', '# c', 'Disallow: /')).toBe('-- 00+… 00… 00');
    }
  });
});
