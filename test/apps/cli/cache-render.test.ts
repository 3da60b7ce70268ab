import { describe, expect, it } from 'vitest';
import { itemJson, type StoredItem, tableRow } from '../../../src/apps/cli/cache/run.ts';
import { HOUR, outcomes, START, Story } from '../../core/lifecycle/support.ts';

const NOW = START + 2 * HOUR;

function itemWith(...met: Parameters<Story['meets']>[0][]): StoredItem {
  const story = new Story();
  for (const outcome of met) story.meets(outcome);
  return {
    namespace: { token: 'examplebot', addressPolicy: 'any' },
    origin: 'https://example.com',
    expiresAt: NOW + 3 * HOUR,
    rejected: undefined,
    record: story.record ?? { origin: 'https://example.com', site: { reachable: true, at: START } },
  } as StoredItem;
}

const answered = itemWith(outcomes.success({}, 'Allow: /\n\u001b'));
const stale = itemWith(outcomes.unavailable({ cacheControl: 'max-age=3600' }));
const failing = itemWith(outcomes.success({}, 'Allow: /'), outcomes.unreachable(5 * HOUR));
const unresolved = itemWith({
  kind: 'unreachable',
  error: 'ENOTFOUND',
  finalUrl: 'https://example.com/robots.txt',
  hops: 0,
});

describe('the table of stored records', () => {
  it.each<[string, StoredItem, readonly string[]]>([
    ['an answer', answered, ['rules (200)', '10 bytes', '2 h ago', '3 h']],
    ['an answer without a file', stale, ['unavailable (404)', '', '2 h ago', '3 h']],
    ['a failure after it', failing, ['rules (200), failing (503)', '8 bytes', '2 h ago', '3 h']],
    ['a failure without a response', unresolved, ['failing (ENOTFOUND)', '', '', '3 h']],
    ['a site signal', itemWith(), ['site signal only', '', '', '3 h']],
    [
      'a rejected record',
      { ...answered, record: undefined, rejected: 'version' } as StoredItem,
      ['rejected: version', '', '', '3 h'],
    ],
  ])('has for %s', (_, item, cells) => {
    expect(tableRow(item, NOW)).toEqual(['https://example.com', 'examplebot', ...cells]);
  });
});

describe('one stored record', () => {
  it('has the text of its file in JSON only where it is asked for', () => {
    expect(JSON.parse(itemJson(answered, false)).copy).toMatchObject({ bytes: 10 });
    expect(JSON.parse(itemJson(answered, false)).copy).not.toHaveProperty('text');
    expect(JSON.parse(itemJson(answered, true)).copy.text).toBe('Allow: /\n\u001b');
  });
});
