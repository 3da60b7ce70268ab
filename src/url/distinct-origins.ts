/** Of a list, so that its length costs no memory: some hundred megabytes at worst. */
const MAX_REMEMBERED = 1_000_000;

/** No host is longer (RFC 1035 §2.3.4: "names 255 octets or less"), with scheme and port around it. */
const LONGEST = 280;

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
    // It names no host that there can be: it is not kept, and counts as new each time.
    if (origin.length > LONGEST) return true;
    this.seen.add(origin);
    // The one that came first goes first.
    if (this.seen.size > this.maxRemembered) this.seen.delete(this.seen.values().next().value ?? '');
    return true;
  }
}
