import { afterEach, describe, expect, it, vi } from 'vitest';
import { invokeListener, emitWarning } from '../../../src/core/base/index.ts';
import { eventually } from '../../support/eventually.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const emitted = () => vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);

describe('a function of the user that listens', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('no disk');
      },
    ],
    ['returns a promise that rejects', () => Promise.reject(new Error('no disk'))],
    [
      'returns an object that throws when it is looked at',
      () =>
        new Proxy(
          {},
          {
            has: () => {
              throw new Error('no disk');
            },
          },
        ),
    ],
  ])('warns of the process, once per name, when it %s', async (how, listener) => {
    const warn = emitted();
    for (let call = 0; call < 3; call++) invokeListener(`${how} 1`, listener);
    invokeListener(`${how} 2`, listener);
    // Node, and what tests before it left, may warn of other things meanwhile.
    const calls = () => warn.mock.calls.filter(([message]) => String(message).includes(how));
    await eventually(() => expect(calls()).toHaveLength(2));
    expect(calls()[0]?.[0]).toContain(`\`${how} 1\` failed: Error: no disk`);
    expect(calls()[0]?.[1]).toMatchObject({
      type: 'RobotsWarning',
      code: 'CANFETCH_LISTENER_FAILED',
      detail: expect.stringContaining('warning.test.ts'),
    });
  });

  it('may throw what has no text', () => {
    const warn = emitted();
    invokeListener('no text', () => {
      throw Object.create(null);
    });
    expect(warn.mock.calls[0]?.[0]).toContain('`no text` failed: object');
  });
});

describe('a warning', () => {
  it.each([
    ['`process`', undefined],
    ['`process.emitWarning`', {}],
  ])('goes to the console on platforms without %s', (_, process) => {
    vi.stubGlobal('process', process);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    emitWarning('Something', 'CANFETCH_SOMETHING');
    expect(warn.mock.calls).toEqual([['Something (CANFETCH_SOMETHING)']]);
  });
});
