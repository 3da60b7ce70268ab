import { Configuration, log } from '@crawlee/http';

// Each crawl logs what it is at.
log.setLevel(log.LEVELS.OFF);

/** A configuration of its own for each crawler: nothing is shared, and nothing is written to the disk. */
export function inMemory(): Configuration {
  return new Configuration({ persistStorage: false, purgeOnStart: false });
}
