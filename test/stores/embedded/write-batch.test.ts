import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BrokenTransaction, type Urgency, WriteBatches } from '../../../src/stores/embedded/write-batch.ts';

/** A database of which only the transactions count: each is what was done in it. */
class Transactions {
  readonly committed: string[][] = [];
  /** Tells whether a transaction with so much in it cannot be committed. */
  refuses: (done: readonly string[]) => boolean = () => false;
  done: string[] = [];
  /** Commits wait for it. */
  commit: Promise<void> = Promise.resolve();

  readonly transact = async (work: () => void): Promise<void> => {
    // The lock is got somewhat later.
    await Promise.resolve();
    this.done = [];
    work();
    await this.commit;
    if (this.refuses(this.done)) throw new Error('the disk is full');
    this.committed.push(this.done);
  };
}

describe('writes in transactions', () => {
  let transactions: Transactions;
  let batches: WriteBatches;

  const write = (name: string, urgency: Urgency, isSmall = true): Promise<string> =>
    batches.add({
      urgency,
      isSmall,
      work: () => {
        transactions.done.push(name);
        return name;
      },
    });

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    transactions = new Transactions();
    batches = new WriteBatches(transactions.transact, () => undefined);
  });

  afterEach(() => vi.useRealTimers());

  it('wait at most 20 ms for others: a killed process loses no more', async () => {
    const first = write('a', 'soon');
    await vi.advanceTimersByTimeAsync(15);
    const second = write('b', 'soon');
    expect(transactions.committed).toEqual([]);
    await vi.advanceTimersByTimeAsync(5);
    expect(transactions.committed).toEqual([['a', 'b']]);
    expect(await Promise.all([first, second])).toEqual(['a', 'b']);
    const third = write('c', 'soon');
    await vi.advanceTimersByTimeAsync(20);
    expect(await third).toBe('c');
    expect(transactions.committed).toHaveLength(2);
  });

  it('are committed, in order, with an awaited one', async () => {
    const soon = write('set', 'soon');
    const now = write('lease', 'now');
    const later = write('release', 'soon');
    expect(await Promise.all([soon, now, later])).toEqual(['set', 'lease', 'release']);
    expect(transactions.committed).toEqual([['set', 'lease', 'release']]);
  });

  it('are bounded per transaction', async () => {
    const names = Array.from({ length: 600 }, (_, index) => String(index));
    await Promise.all(names.map((name) => write(name, 'now')));
    expect(transactions.committed.map(({ length }) => length)).toEqual([256, 256, 88]);
    expect(transactions.committed.flat()).toEqual(names);
  });

  it('do not wait when there are many', async () => {
    const names = Array.from({ length: 256 }, (_, index) => String(index));
    await Promise.all(names.map((name) => write(name, 'soon')));
    expect(transactions.committed).toEqual([names]);
  });

  it('that are urgent do not wait, nor do later ones', async () => {
    const first = write('a', 'soon');
    batches.writeNow();
    await first;
    await write('b', 'soon');
    expect(transactions.committed).toEqual([['a'], ['b']]);
  });

  it('that cannot be committed reject, and small ones in the same transaction are tried once more', async () => {
    transactions.refuses = (done) => done.includes('large');
    const settled = Promise.allSettled([write('large', 'soon', false), write('lease', 'now')]);
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(transactions.committed).toEqual([['lease']]);
  });

  it('whose callers went on ahead of the commit: those are not told that it failed, and nothing is made again', async () => {
    let commit = (): void => undefined;
    transactions.commit = new Promise((resolve) => (commit = resolve));
    transactions.refuses = () => true;
    const other = write('set', 'now');
    expect(await write('lease', 'ahead')).toBe('lease');
    let isEnded = false;
    const ended = batches.ended().then(() => (isEnded = true));
    await Promise.resolve();
    expect(isEnded).toBe(false);
    commit();
    await expect(other).rejects.toThrow('the disk is full');
    await ended;
    // What is tried once more has a transaction of its own.
    expect([transactions.done, transactions.committed]).toEqual([['set', 'lease'], []]);
  });

  it('reject at once when their transaction does not begin: each alone would wait as long for another program', async () => {
    let begun = 0;
    const locked = new WriteBatches(
      async () => {
        begun++;
        throw new Error('database is locked');
      },
      () => undefined,
    );
    const writes = [1, 2, 3].map(() => locked.add({ urgency: 'now', isSmall: true, work: () => undefined }));
    const settled = await Promise.allSettled(writes);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(begun).toBe(1);
  });

  it('reject when the commit keeps failing', async () => {
    transactions.refuses = () => true;
    const settled = Promise.allSettled([write('a', 'now'), write('b', 'now'), write('c', 'soon', false)]);
    for (const each of await settled) expect(each).toMatchObject({ reason: { message: 'the disk is full' } });
    transactions.refuses = () => false;
    expect(await write('d', 'now')).toBe('d');
  });

  it('wait for others again after an urgent one', async () => {
    await write('lease', 'now');
    const soon = write('set', 'soon');
    await vi.advanceTimersByTimeAsync(19);
    expect(transactions.committed).toEqual([['lease']]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await soon).toBe('set');
  });

  it('that are tried once more have a transaction each', async () => {
    transactions.refuses = (done) => done.includes('a');
    const settled = Promise.allSettled([write('a', 'now'), write('b', 'now')]);
    const later = write('c', 'now');
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await later).toBe('c');
    expect(transactions.committed).toEqual([['b'], ['c']]);
  });

  const failing = (error: Error): Promise<never> =>
    batches.add({
      urgency: 'now',
      isSmall: true,
      work: () => {
        throw error;
      },
    });

  it('that throw fail alone', async () => {
    const before = write('a', 'now');
    const failed = failing(new Error('of its own'));
    const after = write('b', 'now');
    await expect(failed).rejects.toThrow('of its own');
    expect(await Promise.all([before, after])).toEqual(['a', 'b']);
    expect(transactions.committed).toEqual([['a', 'b']]);
  });

  it('that break their transaction fail, and the others are tried once more', async () => {
    const before = write('a', 'now');
    const failed = failing(new BrokenTransaction(new Error('the map is full')));
    const after = write('b', 'now');
    await expect(failed).rejects.toMatchObject({ cause: { message: 'the map is full' } });
    expect(await Promise.all([before, after])).toEqual(['a', 'b']);
    expect(transactions.committed).toEqual([['a'], ['b']]);
  });
});
