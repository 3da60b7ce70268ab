import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { progressOn } from '../../../../src/apps/answers/text/output.ts';
import { Collector } from '../../cli/session.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

describe('progress without a terminal', () => {
  it('is a plain line every ten seconds, and none before', () => {
    const sink = new Collector();
    const progress = progressOn(sink, () => undefined);
    for (let second = 1; second <= 25; second++) {
      vi.advanceTimersByTime(1_000);
      progress.show(second * 100, () => [`${second * 100} URLs`]);
      progress.clear();
    }
    expect(sink.text).toBe('canfetch: 1000 URLs · 100/s\ncanfetch: 2000 URLs · 100/s\n');
  });

  it('has the share of a list of known length, and the remaining time', () => {
    const sink = new Collector();
    const progress = progressOn(sink, () => 0.25);
    vi.advanceTimersByTime(20_000);
    progress.show(40, () => ['40 URLs']);
    expect(sink.text).toBe('canfetch: 40 URLs · 2/s · 25 % of the list · about 60 s left\n');
  });
});
