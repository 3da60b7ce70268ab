import { describe, expect, it } from 'vitest';
import { type SlotRequest, Slots } from '../../src/pacing/slots.ts';
import fc from '../support/fast-check.ts';
import { START } from '../support/client.ts';

const ORIGIN = 'https://example.com';

function request(changes: Partial<SlotRequest> = {}): SlotRequest {
  return { now: START, delayMs: 1_000, maxWaitMs: Infinity, ...changes };
}

describe('slots', () => {
  it('the first is now, each further one a delay later', () => {
    const slots = new Slots(10);
    const times = [0, 1, 2, 3].map(() => slots.book(ORIGIN, request()).at - START);
    expect(times).toEqual([0, 1_000, 2_000, 3_000]);
  });

  it('unused slots are not made up for', () => {
    const slots = new Slots(10);
    slots.book(ORIGIN, request());
    const now = START + 60_000;
    expect([1, 2].map(() => slots.book(ORIGIN, request({ now })).at - now)).toEqual([0, 1_000]);
  });

  it('the longer delay of two neighbours counts', () => {
    const slots = new Slots(10);
    const delays = [0, 10_000, 0, 0];
    expect(delays.map((delayMs) => slots.book(ORIGIN, request({ delayMs })).at - START)).toEqual([
      0, 10_000, 20_000, 20_000,
    ]);
  });

  it('origins do not wait for each other', () => {
    const slots = new Slots(10);
    slots.book(ORIGIN, request());
    expect(slots.book('http://example.com', request()).at).toBe(START);
  });

  it('a slot beyond the bound is not booked', () => {
    const slots = new Slots(10);
    slots.book(ORIGIN, request());
    const tooFar = request({ maxWaitMs: 999 });
    expect(slots.book(ORIGIN, tooFar)).toEqual({ booked: false, at: START + 1_000 });
    expect(slots.book(ORIGIN, tooFar).at).toBe(START + 1_000);
    expect(slots.book(ORIGIN, request({ maxWaitMs: 1_000 })).booked).toBe(true);
  });

  it('only the last slot can be given back, once', () => {
    const slots = new Slots(10);
    const [first, second] = [slots.book(ORIGIN, request()), slots.book(ORIGIN, request())];
    if (!first.booked || !second.booked) throw new Error('not booked');
    first.release();
    expect(slots.book(ORIGIN, request({ maxWaitMs: 0 })).at).toBe(START + 2_000);
    second.release();
    second.release();
    expect(slots.book(ORIGIN, request()).at).toBe(START + 1_000);
  });

  it('a pause moves the next slot, and is never shortened by another', () => {
    const slots = new Slots(10);
    slots.hold(ORIGIN, START + 30_000);
    slots.hold(ORIGIN, START + 20_000);
    expect(slots.book(ORIGIN, request()).at).toBe(START + 30_000);
    expect(slots.book(ORIGIN, request()).at).toBe(START + 31_000);
  });

  it('the memory of origins is bounded', () => {
    const slots = new Slots(1);
    slots.book(ORIGIN, request());
    slots.book('https://other.example', request());
    expect(slots.book(ORIGIN, request()).at).toBe(START);
  });

  it('for any requests, slots are never in the past, closer than either delay, or past the bound', () => {
    const step = fc.record({
      passMs: fc.nat(5_000),
      delayMs: fc.nat(3_000),
      maxWaitMs: fc.oneof(fc.constant(Infinity), fc.nat(10_000)),
      release: fc.boolean(),
      holdMs: fc.option(fc.nat(8_000), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const slots = new Slots(10);
        let now = START;
        let heldUntil = 0;
        const used: { at: number; delayMs: number }[] = [];
        for (const { passMs, delayMs, maxWaitMs, release, holdMs } of steps) {
          now += passMs;
          if (holdMs !== undefined) {
            slots.hold(ORIGIN, now + holdMs);
            heldUntil = Math.max(heldUntil, now + holdMs);
          }
          const slot = slots.book(ORIGIN, { now, delayMs, maxWaitMs });
          expect(slot.at).toBeGreaterThanOrEqual(Math.max(now, heldUntil));
          expect(slot.booked).toBe(slot.at - now <= maxWaitMs);
          const last = used.at(-1);
          if (last !== undefined) {
            expect(slot.at - last.at).toBeGreaterThanOrEqual(Math.max(last.delayMs, delayMs));
          }
          if (slot.booked && release) slot.release();
          else if (slot.booked) used.push({ at: slot.at, delayMs });
        }
      }),
    );
  });

  it('late requests are never closer than either delay, and all of them leave', () => {
    const step = fc.record({ passMs: fc.nat(5_000), delayMs: fc.nat(3_000), holdMs: fc.nat(2_000) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), fc.nat(20_000), (steps, stoppedMs) => {
        const slots = new Slots(10);
        let now = START;
        const waiting = steps.map(({ delayMs }) => {
          const slot = slots.bookWaiting(ORIGIN, { now, delayMs, maxWaitMs: Infinity });
          if (!slot.booked) throw new Error('not booked');
          return { delayMs, slot };
        });
        const left: { at: number; delayMs: number }[] = [];
        now += stoppedMs;
        for (let round = 0; waiting.length > 0; round++) {
          const { passMs, holdMs } = steps[round % steps.length]!;
          if (round % 5 === 4 && round < 100) slots.hold(ORIGIN, now + holdMs);
          // In the wrong order, which timers do not keep either.
          const index = waiting.map(({ slot }) => slot.dueAt(now) <= now).lastIndexOf(true);
          const [due] = index < 0 ? [] : waiting.splice(index, 1);
          due?.slot.leave(now);
          if (due !== undefined) left.push({ at: now, delayMs: due.delayMs });
          else now += passMs + 1;
        }
        for (const [index, { at, delayMs }] of left.entries()) {
          const before = left[index - 1];
          if (before !== undefined)
            expect(at - before.at).toBeGreaterThanOrEqual(Math.max(before.delayMs, delayMs));
        }
      }),
    );
  });
});
