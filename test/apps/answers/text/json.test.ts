import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../../src/core/decision/index.ts';
import { jsonLine } from '../../../../src/core/base/index.ts';
import { renderRecord } from '../../../../src/apps/answers/text/json.ts';
import fc from '../../../support/fast-check.ts';

/** What a record must be, byte by byte: all its fields in their order, written by `JSON.stringify`. */
const written = (input: string, line: number | undefined, decision: object): string =>
  jsonLine({ input, ...(line === undefined ? {} : { line }), ...decision });

/** Plain text, and what JSON or a terminal must not have as it is. */
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', '\u0000', '\u007F', '\u009B2J', '\u202E', '\u2028', '\uD800', '\u{E0041}', 'é'),
);
const common = {
  url: text,
  origin: text,
  agent: text,
  profile: text,
  robots: fc.record({ url: text, finalUrl: text, hops: fc.nat(), source: fc.constant('memory' as const) }),
};
const ruleDecision = fc.record({
  ...common,
  state: fc.constantFrom('rules' as const, 'last-good' as const),
  allowed: fc.boolean(),
  reason: fc.constant('rule' as const),
  rule: fc.record({
    directive: fc.constantFrom('allow' as const, 'disallow' as const),
    pattern: text,
    line: fc.nat(),
  }),
  group: fc.record({ agent: text, lines: fc.array(fc.nat()) }),
  crawlDelayMs: fc.oneof(fc.nat(), fc.double()),
});
const override = fc.record({
  reason: fc.constant('override' as const),
  because: text,
  ...common,
  state: fc.constant('allow-all' as const),
  allowed: fc.boolean(),
});
const decisions: fc.Arbitrary<Decision> = fc.oneof(ruleDecision, override);

describe('renderRecord', () => {
  it('writes a decision as JSON.stringify does, with control characters escaped', () => {
    fc.assert(
      fc.property(text, fc.option(fc.nat(), { nil: undefined }), decisions, (input, line, decision) => {
        const target = line === undefined ? { input } : { input, line };
        const record = renderRecord({ target, decision });
        expect(record).toBe(written(input, line, decision));
        // What it keeps of the parts that decisions share is the same text.
        expect(renderRecord({ target, decision: { ...decision } })).toBe(record);
      }),
    );
  });

  it('writes the URL once and uses it twice, and keeps the order of the fields', () => {
    const input = 'https://example.com/"a"';
    const robots = { url: 'u', finalUrl: 'u', hops: 0, source: 'memory' } as const;
    const fields = { robots, url: input, retryAt: 1, reason: 'unreachable', allowed: false } as const;
    const decision: Decision = {
      ...fields,
      origin: 'https://example.com',
      agent: 'A',
      profile: 'rfc9309',
      state: 'disallow-all',
    };
    expect(renderRecord({ target: { input }, decision })).toBe(written(input, undefined, decision));
  });

  it('writes errors as JSON.stringify does', () => {
    const error = { code: 'ERR_ROBOTS_INVALID_URL', message: 'Expected "a", got \u0007' };
    expect(renderRecord({ target: { input: '\u202Ea', line: 3 }, error })).toBe(
      written('\u202Ea', 3, { error }),
    );
  });
});
