/** Of a list, so that its length costs no memory: some hundred megabytes at worst. */
const MAX_REMEMBERED = 1_000_000;

/**
 * Tells the origins of a list that were there before. It remembers the last million: whichever is older counts as new
 * when it comes again, and costs another question, which a cache answers.
 */
export class DistinctOrigins {
  private readonly maxRemembered: number;
  private readonly seen = new Set<string>();
  private added = 0;

  constructor(maxRemembered: number = MAX_REMEMBERED) {
    this.maxRemembered = maxRemembered;
  }

  /** How many were new. */
  get count(): number {
    return this.added;
  }

  /** Whether `origin` is new. */
  add(origin: string): boolean {
    if (this.seen.has(origin)) return false;
    this.added++;
    this.seen.add(origin);
    // The one that came first goes first.
    if (this.seen.size > this.maxRemembered) this.seen.delete(this.seen.values().next().value ?? '');
    return true;
  }
}
