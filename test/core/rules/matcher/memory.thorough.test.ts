import { afterEach, describe, expect, it, vi } from 'vitest';
import { explain, parseRobots, usage } from '../../../../src/core/rules/index.ts';

const MOST_BYTES = 65_536;

/** Bytes of all typed arrays that are made while `ask` runs: no fewer than are in memory at any time. */
function allocatedBy(ask: () => void): number {
  let total = 0;
  for (const Original of [Uint8Array, Uint16Array, Int32Array, Float64Array]) {
    vi.stubGlobal(
      Original.name,
      new Proxy(Original, {
        construct(target, parameters, newTarget) {
          const made: unknown = Reflect.construct(target, parameters, newTarget);
          if (ArrayBuffer.isView(made) && !(parameters[0] instanceof ArrayBuffer)) total += made.byteLength;
          return made as object;
        },
      }),
    );
  }
  ask();
  vi.unstubAllGlobals();
  return total;
}

/** Pseudo-random characters of these; each stands everywhere. */
function random(size: number, characters: string): string {
  let seed = 1;
  let text = '';
  while (text.length < size) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    text += characters[(seed >>> 8) % characters.length];
  }
  return text;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!&()+,;=@/';
const targets: Readonly<Record<string, string>> = {
  'two letters': random(MOST_BYTES - 30, 'ab'),
  'many characters': random(MOST_BYTES - 30, LETTERS),
  'characters outside ASCII': random((MOST_BYTES - 30) / 2, 'éèàüöß'),
};

afterEach(() => {
  vi.unstubAllGlobals();
});

describe.each(Object.keys(targets))('a question about 65,536 bytes of %s', (name) => {
  // What the rules end with stands in front alone, so that none matches, and no byte of theirs is missing.
  const target = `/abQ${targets[name]!}`;
  const pieces = random(200_000, 'ab');
  const rules = Array.from({ length: 20_000 }, (_, index) => {
    return `Disallow: /*${pieces.slice(index * 9, index * 9 + 14)}*${pieces.slice(index * 3, index * 3 + 2)}*Q\n`;
  });
  const body = `User-agent: *\n${rules.join('')}`;

  it('needs at most 32 MB against 20,000 wild rules', () => {
    const file = parseRobots(body);
    expect(allocatedBy(() => file.check(target, 'x'))).toBeLessThan(32e6);
    file.check('/', 'x');
    expect(allocatedBy(() => file.check(target, 'x'))).toBeLessThan(32e6);
  });
});

it('so do explanations and preferences', () => {
  const target = `/abQ${targets['characters outside ASCII']!}`;
  const file = parseRobots(
    `User-agent: *\n${'Allow: /*aab*Q\nContent-Usage: /*abb*Q train-ai=n\n'.repeat(900)}`,
  );
  // Where no rule matches, it asks three times in all, one after the other: in lower case, and with a slash at the end.
  expect(allocatedBy(() => explain(file, target, 'x'))).toBeLessThan(3 * 32e6);
  expect(allocatedBy(() => usage(file, target, 'x'))).toBeLessThan(32e6);
});
