import { describe, expect, it } from 'vitest';
import type { EvidenceEntry } from '../../../src/core/client/evidence/entry.ts';
import { RequestOutcomes, type RequestRow, sentBy } from '../../../src/extras/evidence/request-outcomes.ts';

type Given = Pick<EvidenceEntry, 'type'> & Readonly<Record<string, unknown>>;

const decision = (given: object = {}): Given => ({ type: 'decision', allowed: true, ...given });
const request = (status: number): Given => ({ type: 'request', startedAt: 0, status });
const deferred = (retryAt: number): Given => ({ type: 'deferred', retryAt, delayFrom: 'crawl-delay' });
const cut = (status: number): Given => ({ type: 'cut', status, error: 'ECONNRESET' });

/** What became of what, in the order in which rows come. `@n`: of the line n. */
function outcomesOf(entries: readonly (Given & { readonly hidden?: true })[]): string[] {
  const outcomes = new RequestOutcomes();
  const rows: RequestRow[] = [];
  for (const [at, given] of entries.entries()) {
    const entry = { at, run: 'a', n: at, origin: 'https://a.example', url: 'https://a.example/', ...given };
    const line = { entry: entry as EvidenceEntry, line: at, isSelected: given.hidden !== true };
    const { done } = outcomes.add('file', line as never);
    if (done !== undefined) rows.push(done);
  }
  rows.push(...outcomes.finish());
  expect(rows).toHaveLength(outcomes.rows);
  return rows.map(({ entry, line, outcome, outcomeAt, cut: cutBy }) =>
    [
      `${entry.type}@${line}`,
      ...(outcome === undefined ? [] : [`${outcome.type}@${outcomeAt?.line}`]),
      ...(cutBy === undefined ? [] : ['cut']),
    ].join(' '),
  );
}

describe('what became of a request', () => {
  it.each<[string, Given[], string[]]>([
    ['after its decision', [decision(), request(200)], ['decision@0 request@1']],
    ['before its decision', [deferred(1), decision()], ['decision@1 deferred@0']],
    [
      'between two decisions about one URL',
      [decision(), deferred(1), decision(), request(200)],
      ['decision@0 deferred@1', 'decision@2 request@3'],
    ],
    [
      'of a guard, not of a question',
      [decision(), decision({ question: true }), request(200)],
      ['decision@0 request@2', 'decision@1'],
    ],
    [
      'of a booking, after its question',
      [decision({ question: true }), request(200)],
      ['decision@0 request@1'],
    ],
    [
      'of the latest question',
      [decision({ question: true }), decision({ question: true }), request(200)],
      ['decision@0', 'decision@1 request@2'],
    ],
    [
      'not of a refusal or of a link that was looked up',
      [decision({ allowed: false, refused: true }), decision({ lookup: true }), request(200)],
      ['decision@0', 'decision@1', 'request@2'],
    ],
    [
      'of a dry run, although disallowed',
      [decision({ allowed: false }), request(200)],
      ['decision@0 request@1'],
    ],
    ['without a check', [{ type: 'ignored', because: 'ours' }, request(200)], ['ignored@0 request@1']],
    [
      'of another URL',
      [decision(), { ...request(200), url: 'https://a.example/b' }],
      ['decision@0', 'request@1'],
    ],
    ['of another run', [decision(), { ...request(200), run: 'b' }], ['decision@0', 'request@1']],
  ])('is found %s', (_, entries, expected) => {
    expect(outcomesOf(entries)).toEqual(expected);
  });

  it('has a mark where its body was cut, also when its decision follows', () => {
    expect(outcomesOf([decision(), request(200), decision(), request(200), cut(200), cut(200)])).toEqual([
      'decision@0 request@1 cut',
      'decision@2 request@3 cut',
    ]);
    expect(outcomesOf([request(200), cut(200), decision()])).toEqual(['decision@2 request@0 cut']);
    expect(outcomesOf([decision(), request(404), cut(200)])).toEqual(['decision@0 request@1', 'cut@2']);
  });

  it('is none where the address policy refused the address: no connection was opened', () => {
    const row = (error: string) => ({ entry: { type: 'request', error } }) as RequestRow;
    expect(sentBy(row('ERR_ROBOTS_ADDRESS_REFUSED'))).toBeUndefined();
    expect(sentBy(row('ECONNRESET'))).toBeDefined();
  });

  it('is known in a part of the log although its decision stands before', () => {
    expect(outcomesOf([{ ...decision(), hidden: true }, request(200)])).toEqual([]);
  });

  it('is waited for through 10,000 others, in bounded memory', () => {
    const others = (many: number): Given[] =>
      Array.from({ length: many }, (_, page) => decision({ url: `https://a.example/${page}` }));
    expect(outcomesOf([decision(), ...others(9_999), request(200)])[0]).toBe('decision@0 request@10000');
    const late = outcomesOf([decision(), ...others(10_000), request(200)]);
    expect([late[0], late.at(-1)]).toEqual(['decision@0', 'request@10001']);
  });
});
