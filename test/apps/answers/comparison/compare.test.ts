import { describe, expect, it } from 'vitest';
import { TimeSlice } from '../../../../src/core/base/index.ts';
import { FileComparison } from '../../../../src/apps/answers/comparison/compare.ts';
import { EffectiveRules, ruleChanges } from '../../../../src/apps/answers/comparison/rule-changes.ts';
import { parseRobots, type Rule } from '../../../../src/core/rules/index.ts';
import fc from '../../../support/fast-check.ts';

const slice = (signal: AbortSignal = new AbortController().signal): TimeSlice => new TimeSlice(signal);
const compare = (before: string, after: string, agents: readonly string[] = []): Promise<FileComparison> =>
  FileComparison.of(parseRobots(before), parseRobots(after), agents, slice());

describe('records other than rules', () => {
  it('are compared for the agents of their blocks alone', async () => {
    const body = (delay: string): string =>
      `User-agent: a\nCrawl-delay: ${delay}\nUser-agent: *\nDisallow: /x\n`;
    const { differences } = await compare(body('5'), body('9'), ['a', 'b']);
    expect(differences).toMatchObject([{ agents: ['a'], records: [{ kind: 'removed' }, { kind: 'added' }] }]);
  });
});

const rule = fc.record({
  directive: fc.constantFrom('allow' as const, 'disallow' as const),
  pattern: fc.stringMatching(/^\/[ab*$]{0,3}$/),
});
const ruleList = fc
  .array(rule, { maxLength: 8 })
  .map((rules) => rules.map((each, index): Rule => ({ ...each, line: index + 2 })));
const text = (rules: readonly Rule[]): string =>
  `User-agent: *\n${rules.map(({ directive, pattern }) => `${directive}: ${pattern}\n`).join('')}`;

describe('for any rules', () => {
  it('the changes turn one list into the other', () => {
    fc.assert(
      fc.property(ruleList, ruleList, (before, after) => {
        const key = ({ directive, pattern }: Rule): string => `${directive} ${pattern}`;
        const rules = new Set(before.map(key));
        for (const change of ruleChanges(before, after, false)) {
          if (change.kind !== 'added') expect(rules.delete(key(change.before))).toBe(true);
          if (change.kind !== 'removed') rules.add(key(change.after));
        }
        expect(rules).toEqual(new Set(after.map(key)));
      }),
    );
  });

  it.each(['rfc9309', 'koster-1996'] as const)(
    'unchanged rules have the same verdicts: %s',
    async (dialect) => {
      const path = fc.stringMatching(/^\/[ab]{0,4}$/);
      await fc.assert(
        fc.asyncProperty(ruleList, ruleList, path, async (before, after, target) => {
          const [one, other] = [before, after].map((rules) => parseRobots(text(rules), { dialect }));
          const comparison = await FileComparison.of(one!, other!, [], slice());
          if (comparison.same) expect(one!.check(target).allowed).toBe(other!.check(target).allowed);
          comparison.probe(target);
          const flips = comparison.differences.flatMap((difference) => difference.flips);
          const flipped = one!.check(target).allowed !== other!.check(target).allowed;
          expect(flips.some((flip) => flip.target === target)).toBe(flipped);
        }),
      );
    },
  );

  it.each(['rfc9309', 'google', 'koster-1996', 'robotstxt-1994'] as const)(
    'the groups of an agent are those that decide for it: %s',
    (dialect) => {
      const name = fc.stringMatching(/^(?:[AaBb]{1,2}|\*|\*, ?[Aa]|[Aa], b|[Aa]\/1)$/);
      const lines = fc.array(
        fc.oneof(
          name.map((each) => `User-agent: ${each}`),
          fc.constantFrom('Disallow: /', 'Allow: /a', 'Crawl-delay: 1', '', 'nonsense'),
        ),
        { maxLength: 12 },
      );
      const agents = fc.constantFrom('a', 'A', 'ab', 'b', 'bb/1.0', '*', 'c', '');
      fc.assert(
        fc.property(lines, agents, (written, agent) => {
          const file = parseRobots(written.join('\n'), { dialect });
          const verdict = file.check('/', agent);
          const group = 'group' in verdict ? verdict.group?.agent : undefined;
          expect(new EffectiveRules(file).key(agent).group).toBe(group);
        }),
        { numRuns: 500 },
      );
    },
  );

  it('two hundred agents with four thousand rules each are compared while one looks on', async () => {
    const agents = Array.from({ length: 200 }, (_, index) => `User-agent: bot${index}\n`).join('');
    const rules = Array.from({ length: 4_000 }, (_, index) => `Disallow: /${index}\n`).join('');
    const comparison = await compare(agents + rules, `${agents}Disallow: /new\n${rules}`);
    expect(comparison.differences).toMatchObject([{ rules: [{ kind: 'added' }], flipCount: 2 }]);
    expect(comparison.differences[0]?.agents).toHaveLength(199);
    expect(comparison.agentsLeftOut).toBe(1);
  });
});

describe('hostile files', () => {
  /** Each of 60 agents has all groups but one: hardly two have the same rules. */
  const scattered = (path: string): string =>
    Array.from({ length: 60 }, (_, group) => {
      const names = Array.from({ length: 60 }, (_each, index) => index).filter((index) => index !== group);
      const rules = Array.from({ length: 30 }, (_each, index) => `Disallow: /${path}${group}-${index}\n`);
      return names.map((index) => `User-agent: b${index}\n`).join('') + rules.join('');
    }).join('');

  it('leave out agents once there are more changes than anybody reads', async () => {
    const { differences, agentsLeftOut } = await compare(scattered('a'), scattered('b'));
    const changes = differences.reduce((sum, { rules }) => sum + rules.length, 0);
    expect(changes).toBeGreaterThan(50_000);
    expect(changes).toBeLessThan(55_000);
    expect(agentsLeftOut).toBeGreaterThan(40);
  });

  it('are asked about URLs agent by agent, and each gives way to other work', async () => {
    const [before, after] = [parseRobots(scattered('a')), parseRobots(scattered('b'))];
    const agents = Array.from({ length: 20 }, (_, index) => `b${index}`);
    let turns = 0;
    const always = { isOver: true, yield: async () => void turns++ } as unknown as TimeSlice;
    const comparison = await FileComparison.of(before, after, agents, always);
    expect(turns).toBeGreaterThan(2 * comparison.differences.length);
    const compiled = after.changes;
    turns = 0;
    await comparison.probeAll(['/x', '/y', '/z'], always);
    expect(turns).toBe(3 * comparison.differences.length);
    expect(after.changes - compiled).toBeLessThanOrEqual(agents.length);
  });

  it('give way to other work, and end when they are aborted', async () => {
    const aborted = new AbortController();
    const comparing = FileComparison.of(
      parseRobots(scattered('a')),
      parseRobots(scattered('b')),
      [],
      slice(aborted.signal),
    );
    setImmediate(() => aborted.abort(new Error('left')));
    await expect(comparing).rejects.toThrow('left');
  });
});
