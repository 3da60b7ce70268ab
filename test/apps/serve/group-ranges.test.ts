import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { annotateAll, type FileExplanation } from '../../../src/apps/answers/explanation.ts';
import { parseRobots } from '../../../src/core/rules/index.ts';
import { groupRanges, verdictBy } from '../../../src/apps/serve/verdicts.ts';

const line = fc.constantFrom(
  'User-agent: *',
  'User-agent: a',
  'User-agent: b, a',
  'Disallow: /x',
  'Allow: /',
  'Crawl-delay: 1',
  'Sitemap: https://a.example/s',
  '# x',
  '',
);

describe('the lines of the groups', () => {
  it('are those that the command marks', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
        const file = parseRobots(lines.join('\n'));
        const verdicts = ['*', 'a', 'b', 'c'].map((agent) => verdictBy(file, '/x', agent, undefined));
        const found = groupRanges(file, verdicts);
        for (const verdict of verdicts) {
          const { group, agent } = verdict;
          const ranges = found.find((each) => each.agent === group?.agent)?.ranges ?? [];
          const inRanges = (at: number): boolean => ranges.some(([first, last]) => first <= at && at <= last);
          const decision = {
            ...verdict,
            url: '/x',
            profile: 'rfc9309',
            state: 'rules',
            robots: { file: '-', source: 'file' },
          } as const;
          for (const each of annotateAll({ decision, underProfiles: [], file } as FileExplanation))
            expect([agent, each.line, inRanges(each.line)]).toEqual([agent, each.line, each.inGroup]);
        }
      }),
    );
  });

  it('are bounded, and it is told how many are left out', () => {
    const agents = Array.from({ length: 10 }, (_, index) => `bot-${index}`);
    const text = agents.map((agent) => `User-agent: ${agent}\n`).join('') + 'Disallow: /a\n#\n'.repeat(5_000);
    const file = parseRobots(text);
    const found = groupRanges(
      file,
      agents.map((agent) => verdictBy(file, '/', agent, undefined)),
    );
    expect(found).toHaveLength(10);
    expect(found.reduce((sum, { ranges }) => sum + ranges.length, 0)).toBe(20_000);
    expect(found.at(-1)).toMatchObject({ agent: 'bot-9', ranges: [], omitted: 5_000 });
  });
});
