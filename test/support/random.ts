/** Chance with a seed: the same seed, the same course of events. */
export class Chance {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** True with this probability. */
  happens(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new RangeError('Expected something to pick from');
    return items[this.below(items.length)]!;
  }

  /** Some of the items, each once, in random order. */
  some<Item>(items: readonly Item[], count: number): Item[] {
    const rest = [...items];
    return Array.from(
      { length: Math.min(count, rest.length) },
      () => rest.splice(this.below(rest.length), 1)[0]!,
    );
  }
}

/** The seed of random tests: the same in each run, so that no change is judged by chance. `SEED` chooses another one. */
export const SEED: number = Number(process.env['SEED'] ?? 1) >>> 0;

/** Plays as many schedules, the first one of {@link SEED}. The error names the one that fails. */
export async function playSchedules<Schedule>(
  count: number,
  scheduleOf: (number: number) => Schedule,
  play: (schedule: Schedule, number: number) => Promise<void>,
): Promise<void> {
  for (let number = SEED; number < SEED + count; number++) {
    const schedule = scheduleOf(number);
    try {
      await play(schedule, number);
    } catch (error) {
      throw new Error(`schedule ${number}: ${JSON.stringify(schedule)}`, { cause: error });
    }
  }
}
