import { vi } from 'vitest';

/** Waits until `assertion` holds: no longer than that takes, and as long as a machine may need that is very busy. */
export function eventually(assertion: () => unknown): Promise<void> {
  return vi.waitFor(async () => void (await assertion()), { timeout: 30_000, interval: 2 });
}
