import type { StoreLease } from '../store/store.ts';

/** A lease that can be told from every other on its key. */
export interface FencedLease extends StoreLease {
  /** Unique. Of two leases on one key the later has the greater, compared as text. */
  readonly token: string;
}
