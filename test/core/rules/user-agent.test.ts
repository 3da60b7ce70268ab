import crawlers from 'crawler-user-agents';
import { describe, expect, it } from 'vitest';
import { parseRobots } from '../../../src/core/rules/index.ts';
import { type Asking, whoAsks } from '../../../src/core/rules/agent.ts';
import fc from '../../support/fast-check.ts';
import { runs } from '../../support/thorough.ts';

const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

describe('who asks, by a User-Agent string', () => {
  it.each<readonly [form: string, agent: string, asking: Asking | undefined]>([
    ['a product token', 'Mozilla', { token: 'Mozilla' }],
    ['the first product', 'ExampleBot/1.0 Mozilla/5.0 (compatible; OtherBot/1.0)', { token: 'ExampleBot' }],
    ['the first product behind a language', 'Python/3.12 example_bot/1.0', { token: 'example_bot' }],
    [
      'a compatible product behind an old browser',
      'Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0; en-US; ExamplePreview/1.0b)',
      { token: 'ExamplePreview' },
    ],
    [
      'a compatible product without a comment',
      'Mozilla/4.0 compatible ExampleBot/1.0',
      { token: 'ExampleBot' },
    ],
    [
      'an item of several words',
      `Mozilla/5.0 (Macintosh; a.example crawler) ${CHROME}`,
      { token: 'a.example' },
    ],
    [
      'a product between those of a browser',
      'Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Example/1.0 Safari/537.36',
      { token: 'Example' },
    ],
    [
      'a browser, and the address of somebody',
      `Mozilla/5.0 (X11; Linux x86_64) ${CHROME} +https://a.example bot@a.example crawl(at)a.example`,
      { token: 'Mozilla', doubt: 'browser' },
    ],
    ['a name with a space', 'My Bot/1.0', { token: 'My', doubt: 'space' }],
    ['such a name behind a browser', 'Mozilla/5.0 My Own Bot/1.0', { token: 'My', doubt: 'space' }],
    ['letters outside ASCII', 'jävla-bot/1.0', undefined],
  ])('%s: %s', (_, agent, asking) => {
    expect(whoAsks(agent)).toEqual(asking);
  });

  it('the group of the bot holds, not that of `*`', () => {
    const file = parseRobots('User-agent: ExampleBot\nDisallow: /private\n\nUser-agent: *\nAllow: /');
    const agent = `Mozilla/5.0 (X11; Linux x86_64) ${CHROME} ExampleBot/1.0 (+https://example.com/bot)`;
    expect(file.check('/private', agent).allowed).toBe(false);
  });

  it('is a part of it, whatever the string', () => {
    const part = fc.constantFrom(
      ...[
        'Mozilla/5.0 ',
        'compatible',
        '; ',
        '(',
        ')',
        'Bot/1',
        ' bot',
        '+https://a',
        'a@b',
        ',',
        'é',
        'Linux ',
      ],
    );
    const agents = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(agents, (agent) => {
        const token = whoAsks(agent)?.token;
        expect(token === undefined || (/^[\w.-]+$/.test(token) && agent.includes(token))).toBe(true);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe('the strings of real crawlers', () => {
  /** Whether a token lies in what the list knows the crawler by. */
  const isTheBot = (agent: string, token: string, patterns: readonly RegExp[]): boolean =>
    patterns.some((pattern) =>
      [...agent.matchAll(pattern)].some(({ 0: known, index }) => {
        const at = agent.indexOf(token, Math.max(0, index - token.length + 1));
        return at >= 0 && at < index + known.length;
      }),
    );

  it('name the bot, or are doubted', () => {
    const counts = { bot: 0, otherName: 0, onlyBrowser: 0, space: 0, none: 0 };
    const agents = new Map<string, RegExp[]>();
    for (const { instances, pattern } of crawlers)
      for (const agent of instances)
        agents.set(agent, [...(agents.get(agent) ?? []), new RegExp(pattern, 'g')]);
    for (const [agent, patterns] of agents) {
      const asking = whoAsks(agent);
      if (asking === undefined) counts.none++;
      else if (asking.doubt === 'browser') counts.onlyBrowser++;
      else if (asking.doubt === 'space') counts.space++;
      else if (isTheBot(agent, asking.token, patterns)) counts.bot++;
      else counts.otherName++;
    }
    expect(counts).toEqual({ bot: 1_854, otherName: 161, onlyBrowser: 51, space: 47, none: 5 });
  });
});
