import { expect, it } from 'vitest';
import { soak } from './soak.ts';

/** The short variant of `npm run soak`. */
it('a client says what the model says, through random faults and jumps of the clock', async () => {
  const report = await soak({ seed: 9309, goesOn: (rounds) => rounds < 120, sites: 16 });
  expect(report.rounds).toBe(120);
  expect(report.clients).toBe(3);
  expect(Object.keys(report.met).length).toBeGreaterThan(25);
  expect(report.requests).toBeGreaterThan(report.questions / 2);
}, 180_000);
