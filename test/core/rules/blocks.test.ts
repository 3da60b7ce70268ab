import { describe, expect, it } from 'vitest';
import { type Dialect, parseRobots, requestRate, usage } from '../../../src/core/rules/index.ts';
import fc from '../../support/fast-check.ts';
import { runs } from '../../support/thorough.ts';

const lines = (...text: string[]): string => text.join('\n');
const ALL_DIALECTS: readonly Dialect[] = ['rfc9309', 'google', 'koster-1996', 'robotstxt-1994'];

describe('blocks: records other than allow and disallow', () => {
  it.each<[string, string[], number | undefined, number | undefined]>([
    ['user-agent lines one below the other share them', ['User-agent: b', 'Crawl-delay: 1'], 1, 1],
    ['a blank line is no matter', ['', 'User-agent: b', 'Crawl-delay: 1'], 1, 1],
    ['a line that is none is no matter', ['hello there you', 'User-agent: b', 'Crawl-delay: 1'], 1, 1],
    ['another record starts a new block', ['Host: x', 'User-agent: b', 'Crawl-delay: 1'], undefined, 1],
    ['a rule does', ['Disallow: /x', 'User-agent: b', 'Crawl-delay: 1'], undefined, 1],
    ['each has its own', ['Crawl-delay: 1', 'User-agent: b', 'Crawl-delay: 2'], 1, 2],
    ['after rules it counts for the lines above them', ['Disallow: /x', 'Crawl-delay: 1'], 1, undefined],
    [
      'blocks of one agent: the longest',
      ['Crawl-delay: 1', 'User-agent: b', 'User-agent: a', 'Crawl-delay: 3'],
      3,
      3,
    ],
    ['`*` is not for those named', ['Disallow: /', 'User-agent: *', 'Crawl-delay: 9'], undefined, 9],
  ])('%s', (_, body, a, b) => {
    for (const dialect of ['rfc9309', 'google'] as const) {
      const file = parseRobots(lines('User-agent: a', ...body, 'Disallow: /z'), { dialect });
      const seconds = (agent: string): number | undefined => {
        const delayMs = file.crawlDelay(agent);
        return delayMs === undefined ? undefined : delayMs / 1_000;
      };
      expect([seconds('a'), seconds('b')]).toEqual([a, b]);
    }
  });

  it('the dialects of the 1990s: a blank line ends the block with the record', () => {
    for (const dialect of ['koster-1996', 'robotstxt-1994'] as const) {
      const file = parseRobots(
        lines('User-agent: a', 'Crawl-delay: 1', 'User-agent: b', 'Disallow: /x', '', 'Crawl-delay: 2'),
        { dialect },
      );
      expect([file.crawlDelay('a'), file.crawlDelay('b')]).toEqual([1_000, undefined]);
      expect(file.check('/x', 'a').allowed).toBe(false);
      expect(file.otherRecords.map(({ block }) => block)).toEqual([0, undefined]);
    }
  });

  it('request rates, preferences and licences belong to blocks too', () => {
    const records = (value: string): string[] => [
      `Request-rate: 1/${value === 'n' ? 5 : 7}`,
      `Content-Usage: train-ai=${value}`,
      `Content-Signal: search=${value === 'n' ? 'no' : 'yes'}`,
      `License: https://example.com/${value}.xml`,
    ];
    const body = lines('User-agent: a', ...records('n'), 'User-agent: *', ...records('y'), 'Allow: /');
    for (const dialect of ALL_DIALECTS) {
      const file = parseRobots(body, { dialect });
      expect([requestRate(file, 'a'), requestRate(file, 'x')]).toEqual([5_000, 7_000]);
      expect(usage(file, '/', 'a')).toMatchObject({
        'train-ai': 'disallow',
        search: 'disallow',
        licenses: ['https://example.com/n.xml'],
      });
      expect(usage(file, '/', 'x')).toMatchObject({
        'train-ai': 'allow',
        search: 'allow',
        licenses: ['https://example.com/y.xml'],
      });
    }
  });

  it('user-agent lines and records have the number of their block', () => {
    const file = parseRobots(
      'Host: x\nUser-agent: a, b\nUser-agent: c\nHost: y\nUser-agent: d\nDisallow: /\nHost: z',
    );
    expect(file.groups).toEqual([
      {
        agentLines: [
          { names: ['a', 'b'], written: 'a, b', line: 2, block: 0 },
          { names: ['c'], written: 'c', line: 3, block: 0 },
          { names: ['d'], written: 'd', line: 5, block: 1 },
        ],
        rules: [{ directive: 'disallow', pattern: '/', line: 6 }],
      },
    ]);
    expect(file.otherRecords).toEqual([
      { key: 'host', value: 'x', line: 1 },
      { key: 'host', value: 'y', line: 4, block: 0 },
      { key: 'host', value: 'z', line: 7, block: 1 },
    ]);
  });

  it('the delay, the rate and the records agree, for any lines', () => {
    const line = fc.constantFrom(
      ...['User-agent: a', 'User-agent: b', 'User-agent: *', 'User-agent: a, b', 'user-agent:'],
      ...['Disallow: /', 'Allow:', '', '# c', 'Sitemap: /s', 'Host: x', 'a b c'],
      ...['Crawl-delay: 1', 'Crawl-delay: 2', 'Crawl-delay: x'],
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 14 }), fc.constantFrom(...ALL_DIALECTS), (body, dialect) => {
        const file = parseRobots(lines(...body), { dialect });
        // A rate says the same as a delay, read by code of its own.
        const rates = parseRobots(lines(...body).replaceAll('Crawl-delay: ', 'Request-rate: 1/'), {
          dialect,
        });
        const agentLines = file.groups.flatMap((group) => group.agentLines);
        for (const agent of ['a', 'b', 'c']) {
          expect(requestRate(rates, agent)).toBe(file.crawlDelay(agent));
          const isNamed = agentLines.some(({ names }) => names.includes(agent));
          const naming = agentLines.filter(({ names }) => names.includes(isNamed ? agent : '*'));
          const blocks = new Set<number | undefined>(naming.map(({ block }) => block));
          const delays = file.otherRecords
            .filter(({ key, value, block }) => key === 'crawl-delay' && value !== 'x' && blocks.has(block))
            .map(({ value }) => Number(value) * 1_000);
          expect(file.crawlDelay(agent)).toBe(delays.length === 0 ? undefined : Math.max(...delays));
        }
      }),
      { numRuns: runs(400) },
    );
  });
});
