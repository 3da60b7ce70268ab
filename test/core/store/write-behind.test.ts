import { describe, expect, it } from 'vitest';
import type { OriginRecord } from '../../../src/core/lifecycle/index.ts';
import { type Write, WriteBehind } from '../../../src/core/store/write-behind.ts';

interface Sent {
  readonly origin: string;
  readonly write: Write;
  readonly end: (isMade: boolean) => Promise<void>;
}

function setUp() {
  const sent: Sent[] = [];
  const dropped: string[] = [];
  const limit = { now: Infinity };
  const writes = new WriteBehind({
    send: (origin, write) =>
      new Promise((resolve) => {
        const end = async (isMade: boolean): Promise<void> => {
          resolve(isMade);
          await turn();
        };
        sent.push({ origin, write, end });
      }),
    allowance: () => limit.now,
    onDropped: (origin, { kind }) => dropped.push(`${kind} ${origin}`),
  });
  return { writes, sent, dropped, limit };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const set = (origin: string, bytes = 0): Write => {
  const copy = { body: new Uint8Array(bytes) } as OriginRecord['copy'] & object;
  return { kind: 'set', record: { origin, copy } };
};
const deletion: Write = { kind: 'delete', at: 0 };

/** Whether a promise has resolved by now. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(() => (done = true));
  await turn();
  return done;
}

describe('a write', () => {
  it('is sent at once, and pending until it is done', async () => {
    const { writes, sent } = setUp();
    const write = set('a');
    const put = writes.enqueue('a', write);
    expect(sent.map(({ write }) => write)).toEqual([write]);
    expect(writes.pending('a')).toBe(write);
    expect(await isDone(put)).toBe(false);
    await sent[0]!.end(true);
    await put;
    expect(writes.pending('a')).toBeUndefined();
  });

  it('waits for the previous one for the same origin; only the last of several is sent', async () => {
    const { writes, sent } = setUp();
    const puts = [set('a'), set('a'), deletion].map((write) => writes.enqueue('a', write));
    expect(sent).toHaveLength(1);
    expect(writes.pending('a')).toBe(deletion);
    await sent[0]!.end(true);
    expect(sent.map(({ write: { kind } }) => kind)).toEqual(['set', 'delete']);
    expect(await isDone(puts[1]!)).toBe(false);
    await sent[1]!.end(true);
    await Promise.all(puts);
    expect(sent).toHaveLength(2);
  });

  it('that fails is kept and sent again on the next occasion, not before', async () => {
    const { writes, sent } = setUp();
    const put = writes.enqueue('a', set('a'));
    await sent[0]!.end(false);
    await put;
    expect(sent).toHaveLength(1);
    expect(writes.pending('a')?.kind).toBe('set');
    writes.drain();
    expect(sent).toHaveLength(2);
  });

  it('that fails is not sent again when a later one replaced it', async () => {
    const { writes, sent } = setUp();
    void writes.enqueue('a', set('a'));
    void writes.enqueue('a', deletion);
    await sent[0]!.end(false);
    writes.drain();
    expect(sent.map(({ write: { kind } }) => kind)).toEqual(['set', 'delete']);
    await sent[1]!.end(true);
    writes.drain();
    expect(sent).toHaveLength(2);
  });

  it('is not waited for while nothing can be sent', async () => {
    const { writes, sent, limit } = setUp();
    limit.now = 0;
    await writes.enqueue('a', set('a'));
    expect(sent).toHaveLength(0);
  });

  it('queued after one that fails is not waited for either', async () => {
    const { writes, sent } = setUp();
    void writes.enqueue('a', set('a'));
    const second = writes.enqueue('a', deletion);
    await sent[0]!.end(false);
    await second;
    expect(sent).toHaveLength(1);
  });

  it('that alone fails repeatedly is given up', async () => {
    const { writes, sent, dropped } = setUp();
    void writes.enqueue('bad', set('bad'));
    await sent.at(-1)!.end(false);
    for (let count = 0; dropped.length === 0 && count < 10; count++) {
      void writes.enqueue('good', set('good'));
      for (const { origin, end } of sent.splice(0)) await end(origin === 'good');
    }
    expect(dropped).toEqual(['set bad']);
    expect(writes.pending('bad')).toBeUndefined();
  });

  it('that fails with all others is not given up', async () => {
    const { writes, sent, dropped } = setUp();
    void writes.enqueue('a', set('a'));
    for (let count = 0; count < 50; count++) {
      await sent.at(-1)!.end(false);
      writes.drain();
    }
    expect(dropped).toEqual([]);
    expect(sent).toHaveLength(51);
  });
});

describe('waiting writes', () => {
  it('are sent one at a time until one succeeds, then all', async () => {
    const { writes, sent, limit } = setUp();
    limit.now = 0;
    for (const origin of 'abcdef') void writes.enqueue(origin, set(origin));
    limit.now = 1;
    writes.drain();
    limit.now = 0;
    expect(sent.map(({ origin }) => origin)).toEqual(['a']);
    limit.now = Infinity;
    await sent[0]!.end(true);
    expect(sent.map(({ origin }) => origin)).toEqual([...'abcdef']);
  });

  it('are at most 32 at a time', async () => {
    const { writes, sent } = setUp();
    for (let count = 0; count < 40; count++) void writes.enqueue(`${count}`, set(`${count}`));
    expect(sent).toHaveLength(32);
    await sent[0]!.end(true);
    expect(sent).toHaveLength(33);
  });

  it('are bounded in number and bytes: the oldest record is dropped first, deletions last', async () => {
    const { writes, dropped, limit } = setUp();
    limit.now = 0;
    await writes.enqueue('forget', deletion);
    for (let count = 0; count < 1_001; count++) await writes.enqueue(`${count}`, set(`${count}`));
    expect(dropped).toEqual(['set 0', 'set 1']);
    await writes.enqueue('large', set('large', 16 * 1_048_576));
    expect(dropped).toHaveLength(3);
    await writes.enqueue('a bit more', set('a bit more', 1));
    expect(writes.pending('large')).toBeUndefined();
    expect(writes.pending('forget')).toBe(deletion);
    expect(writes.pending('a bit more')?.kind).toBe('set');
  });

  it('may exceed the bound with a single write', async () => {
    const { writes, sent, dropped } = setUp();
    void writes.enqueue('large', set('large', 20 * 1_048_576));
    expect([sent.length, dropped]).toEqual([1, []]);
  });

  it('are all tried once more on close, with an event for failures', async () => {
    const { writes, sent, dropped, limit } = setUp();
    void writes.enqueue('a', set('a'));
    limit.now = 0;
    for (let count = 0; count < 40; count++) void writes.enqueue(`${count}`, set(`${count}`));
    const flushed = writes.flush();
    expect(sent).toHaveLength(32);
    for (let count = 0; count < 41; count++) await sent[count]!.end(count % 2 === 0);
    await flushed;
    expect(sent).toHaveLength(41);
    expect(dropped).toHaveLength(20);
  });

  it('are reported when they are dropped untried', async () => {
    const { writes, sent, dropped, limit } = setUp();
    void writes.enqueue('a', set('a'));
    limit.now = 0;
    void writes.enqueue('b', deletion);
    const flushed = writes.flush();
    writes.abandon();
    await flushed;
    expect(dropped).toEqual(['set a', 'delete b']);
    await sent[0]!.end(false);
    expect(dropped).toHaveLength(2);
  });

  it('delay the end by nothing when there are none', async () => {
    await setUp().writes.flush();
  });
});
