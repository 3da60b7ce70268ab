import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chai, describe, it } from 'vitest';
import robotsParser from '../../../src/extras/robots-parser/robots-parser.ts';

/**
 * The tests of the package `robots-parser` itself, read from where npm put it and run against our function of that name.
 */
const suite = readFileSync(createRequire(import.meta.url).resolve('robots-parser/test/Robots.js'), 'utf8');

/** Tests of theirs that contradict RFC 9309 or the URL Standard. */
const CONTRADICTIONS = new Map([
  [
    'should handle lone high / low surrogates',
    'the URL Standard writes a lone surrogate as %EF%BF%BD, which is what its bytes are in the file, too',
  ],
]);

describe("the package's own suite", () => {
  const modules: Readonly<Record<string, unknown>> = { '../index': robotsParser, chai };
  const test = (name: string, run: () => void): void => {
    const why = CONTRADICTIONS.get(name);
    if (why === undefined) it(name, run);
    else it(`${name}: contradicted, ${why}`, () => chai.expect(run).to.throw());
  };
  // The suite is CommonJS for mocha: `require`, `describe` and `it` are handed in.
  new Function('require', 'describe', 'it', suite)((name: string) => modules[name], describe, test);
});
