import { describe, expect, it, vi } from 'vitest';
import { agentTokens, AgentTokens } from '../../../src/core/decision/agent-tokens.ts';
import { afterEachTest } from '../../support/after-each-test.ts';

describe('the product tokens of an agent', () => {
  it.each([
    ['', 'Expected `agent` to hold a product token, such as "ExampleBot" or "ExampleBot/1.0", got ""'],
    [
      ['A', '+'],
      'Expected `agent` to hold a product token, such as "ExampleBot" or "ExampleBot/1.0", got "+"',
    ],
    [['A', 5], 'Expected `agent` to hold a product token, such as "ExampleBot" or "ExampleBot/1.0", got "5"'],
    [[], 'Expected `agent` to be a string or a list of strings, got ""'],
    [{ length: 1 }, 'Expected `agent` to be a string or a list of strings, got "[object Object]"'],
  ])('are refused for %j', (agent, message) => {
    expect(() => agentTokens(agent as never)).toThrow(
      expect.objectContaining({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
        message: expect.stringContaining(message),
      }),
    );
  });
});

describe('an agent that names no bot', () => {
  it.each([
    ['My Bot/1.0', 'robots.txt is checked for "My", because the agent "My Bot/1.0" has a space in its name'],
    ['Mozilla/5.0 (X11)', 'names browsers and platforms, and no bot: write one word and a version in front'],
  ])('is warned of once: %s', async (agent, message) => {
    vi.resetModules();
    const { RobotsClient } = await import('../../../src/index.ts');
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    afterEachTest(() => warn.mockRestore());
    const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
    robots.peek('https://a.example/', 'Mozilla/5.0 (compatible; ExampleBot/1.0)');
    expect(warn).not.toHaveBeenCalled();
    robots.peek('https://a.example/', agent);
    robots.peek('https://a.example/', `${agent} Mozilla/5.0`);
    await new RobotsClient({ agent }).close();
    await robots.close();
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining(message),
      expect.objectContaining({ code: 'CANFETCH_AGENT_UNNAMED' }),
    );
  });
});

describe('the remembered tokens', () => {
  const tokens = new AgentTokens(['OwnBot']);

  it('are one object for the same text, for 256 texts', () => {
    const first = tokens.of('Bot0/1');
    expect(tokens.of('Bot0/1')).toBe(first);
    for (let at = 1; at < 256; at++) tokens.of(`Bot${at}/1`);
    expect(tokens.of('Bot0/1')).toBe(first);
    expect(tokens.of('Bot256/1')).toEqual(['Bot256']);
    expect(tokens.of('Bot0/1')).not.toBe(first);
    expect(tokens.of('Bot0/1')).toEqual(first);
  });

  it('are one object for equal lists in a row', () => {
    const first = tokens.of(['A', 'B']);
    expect(first).toEqual(['A', 'B']);
    expect(tokens.of(['A', 'B'])).toBe(first);
    for (const other of [['A'], ['A', 'C'], ['C', 'B'], ['B', 'A'], ['A', 'B', 'C']]) {
      tokens.of(['A', 'B']);
      expect(tokens.of(other)).toEqual(other);
    }
  });

  it('do not follow a list that is changed', () => {
    const list = ['A', 'B'];
    tokens.of(list);
    list[1] = 'C';
    expect(tokens.of(list)).toEqual(['A', 'C']);
  });
});
