import { describe, expect, it } from 'vitest';
import { type Dialect, parseRobots } from '../../src/core/rules/index.ts';
import { type Answer, type Case, GROUPS, LINES, RULES } from './cases.ts';

const DIALECTS: readonly Dialect[] = ['rfc9309', 'google', 'koster-1996', 'robotstxt-1994'];

/** What a dialect answers to the question of a case. */
function answerOf([, file, agent, target]: Case, dialect: Dialect): Answer {
  const body = file instanceof Uint8Array ? file : file.join('\n');
  const verdict = parseRobots(body, { dialect }).check(target, agent);
  return `${verdict.allowed ? '+' : '-'}${verdict.rule?.line ?? 0}`;
}

describe.each([
  ['groups', GROUPS],
  ['lines', LINES],
  ['rules', RULES],
] as const)('%s', (_, cases) => {
  it.each(cases.map((each) => [each[0], each] as const))('%s', (_what, each) => {
    const [, , , , ...expected] = each;
    expect(DIALECTS.map((dialect) => answerOf(each, dialect))).toEqual(expected);
  });
});
