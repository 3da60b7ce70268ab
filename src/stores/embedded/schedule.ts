import { durationMs, SLOT_REMEMBERED_MS } from '../../core/store/store.ts';
import type { Entry, Table } from './table.ts';

/** The last slot of an origin, and the end of its pause: epoch ms, 0 for none. */
interface Schedule {
  readonly slot: number;
  readonly pausedUntil: number;
}

/** Books the next slot of `key`. Resolves with the milliseconds until then. */
export async function bookSlot(table: Table, key: string, givenMs: number): Promise<number> {
  const delayMs = durationMs('delayMs', givenMs);
  const { slot } = await moveTimetable(table, key, delayMs, ({ slot: last, pausedUntil }, now) => ({
    slot: Math.max(now, pausedUntil, last + delayMs),
    pausedUntil,
  }));
  return Math.max(0, slot - table.now());
}

/** Pauses `key` for at least `givenMs`; 0 only asks. Resolves with the milliseconds until the end of the pause. */
export async function pauseSlots(table: Table, key: string, givenMs: number): Promise<number> {
  const pauseMs = durationMs('pauseMs', givenMs);
  const asksAlone = (): Schedule => readTimetable(table.find('slot', key), table.now());
  const { pausedUntil } =
    pauseMs === 0
      ? await table.read(asksAlone)
      : await moveTimetable(table, key, 0, ({ slot, pausedUntil: before }, now) => ({
          slot,
          pausedUntil: Math.max(before, now + pauseMs),
        }));
  return Math.max(0, pausedUntil - table.now());
}

/** Changes the schedule of `key` in one transaction. It is kept long enough for a slot with `delayMs` to find it. */
function moveTimetable(
  table: Table,
  key: string,
  delayMs: number,
  change: (before: Schedule, now: number) => Schedule,
): Promise<Schedule> {
  return table.write('now', (writer) => {
    const now = table.now();
    const { slot, pausedUntil } = change(readTimetable(writer.find('slot', key), now), now);
    const expiresAt = Math.max(now, slot, pausedUntil) + Math.max(delayMs, SLOT_REMEMBERED_MS);
    writer.put('slot', { key, content: Buffer.from(`${slot} ${pausedUntil} ${now}`), expiresAt });
    return { slot, pausedUntil };
  });
}

/** The content has the slot, the pause, and when they were written. A clock that was set back since lengthens no wait. */
function readTimetable(entry: Entry | undefined, now: number): Schedule {
  const numbers = entry === undefined ? [] : entry.content.toString().split(' ').map(Number);
  const [slot = 0, pausedUntil = 0, writtenAt = now] = numbers.every(Number.isFinite) ? numbers : [];
  const setBackMs = Math.max(0, writtenAt - now);
  return { slot: slot - setBackMs, pausedUntil: pausedUntil - setBackMs };
}
