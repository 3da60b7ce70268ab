import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StreamProgress } from '../../../src/apps/serve/check.ts';

describe('a stream of questions with a limit of 100 ms', () => {
  let ended: string[];
  let progress: StreamProgress;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    ended = [];
    progress = new StreamProgress(100, {
      onSilent: () => ended.push('silent'),
      onUnread: () => ended.push('unread'),
    });
  });

  afterEach(() => {
    progress.end();
    vi.useRealTimers();
  });

  const wait = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

  it('ends as silent without a question', async () => {
    await wait(99);
    expect(ended).toEqual([]);
    await wait(1);
    expect(ended).toEqual(['silent']);
  });

  it('has the whole time again after a question and its answer', async () => {
    await wait(60);
    progress.asked();
    await progress.written(Promise.resolve(), 1);
    await wait(99);
    expect(ended).toEqual([]);
    await wait(1);
    expect(ended).toEqual(['silent']);
  });

  it('does not end while a question waits for its answer, however long', async () => {
    progress.asked();
    progress.asked();
    await progress.written(Promise.resolve(), 1);
    await wait(1_000);
    expect(ended).toEqual([]);
    await progress.written(Promise.resolve(), 1);
    await wait(100);
    expect(ended).toEqual(['silent']);
  });

  it('ends as unread when an answer is not taken', async () => {
    progress.asked();
    await wait(60);
    void progress.written(new Promise(() => undefined), 1);
    await wait(60);
    // Further questions do not say that it will be.
    progress.asked();
    await wait(39);
    expect(ended).toEqual([]);
    await wait(1);
    expect(ended).toEqual(['unread']);
  });

  it('has the whole time again after an answer is taken', async () => {
    progress.asked();
    let take = (): void => undefined;
    void progress.written(new Promise<void>((resolve) => (take = resolve)), 1);
    await wait(60);
    take();
    await wait(99);
    expect(ended).toEqual([]);
    await wait(1);
    expect(ended).toEqual(['silent']);
  });

  it('leaves no timer at its end', async () => {
    progress.end();
    expect(vi.getTimerCount()).toBe(0);
    await wait(1_000);
    expect(ended).toEqual([]);
  });
});
