import { describe, expect, it } from 'vitest';
import { heldBytes } from '../../../src/core/cache/entry.ts';
import { parseRobots } from '../../../src/core/rules/index.ts';

const TEXT =
  'User-agent: A\nDisallow: /a\n\nUser-agent: B\nUser-agent: C\nDisallow: /b\n\nUser-agent: *\nAllow: /\n';
type File = ReturnType<typeof parseRobots>;

/** How much a file grows by questions. Rules are compiled after the first question. */
function grown(file: File, path: string, agent: string): number {
  const before = heldBytes(file);
  for (let count = 0; count < 3; count++) file.check(path, agent);
  return heldBytes(file) - before;
}

describe('the estimated memory of a file', () => {
  it('has its bytes, one by one', () => {
    const [short, long] = [parseRobots(TEXT), parseRobots(`${TEXT}# ${'x'.repeat(1_000)}`)];
    expect(heldBytes(long) - heldBytes(short)).toBe(1_002);
    expect(heldBytes(short)).toBeGreaterThan(TEXT.length);
    expect(heldBytes(short)).toBeLessThan(TEXT.length + 1_000);
  });

  it('grows with each agent that has rules of its own, once', () => {
    const file = parseRobots(TEXT);
    expect(grown(file, '/a', 'A')).toBeGreaterThan(300);
    expect(grown(file, '/b', 'A')).toBe(0);
    expect(grown(file, '/a', 'B')).toBeGreaterThan(300);
  });

  it('grows little with agents that no group names: they share their rules', () => {
    const file = parseRobots(TEXT);
    grown(file, '/a', 'First');
    grown(file, '/a', 'Second');
    const another = grown(file, '/a', 'Third');
    expect(another).toBeGreaterThanOrEqual(0);
    expect(another).toBeLessThan(100);
  });

  it('does not go down, whatever is asked', () => {
    const file = parseRobots(TEXT);
    for (const agent of ['A', 'B', 'C', 'Other', 'Another']) {
      for (const path of ['/a', '/b', '/', '/robots.txt']) {
        expect(grown(file, path, agent)).toBeGreaterThanOrEqual(0);
      }
    }
    expect(heldBytes(file)).toBeLessThan(TEXT.length + 5_000);
  });
});
