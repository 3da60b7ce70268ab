import {
  durationMs,
  SLOT_REMEMBERED_MS,
  type StoreReserveOptions,
  type StoreSlot,
} from '../../core/store/store.ts';
import type { Entry, Table } from './table.ts';

/** The schedule of one origin that a fleet shares. Times are epoch ms, 0 for none. */
interface Schedule {
  /** The end of the last slot. */
  readonly slotEnd: number;
  /** The delay of that slot. */
  readonly delayMs: number;
  readonly pausedUntil: number;
}

/** Books the next slot of `key`. */
export async function bookSlot(
  table: Table,
  key: string,
  givenMs: number,
  options: StoreReserveOptions = {},
): Promise<StoreSlot> {
  const delayMs = durationMs('delayMs', givenMs);
  const minWaitMs = durationMs('minWaitMs', options.minWaitMs ?? 0);
  const slackMs = durationMs('slackMs', options.slackMs ?? 0);
  const { maxWaitMs = Infinity } = options;
  let at = 0;
  let paused = 0;
  await moveSchedule(table, key, (before, now) => {
    const { slotEnd, pausedUntil } = before;
    paused = pausedUntil;
    at = Math.max(now + minWaitMs, pausedUntil, slotEnd + Math.max(delayMs, before.delayMs));
    return at - now > maxWaitMs ? undefined : { slotEnd: at + slackMs, delayMs, pausedUntil };
  });
  const now = table.now();
  return { waitMs: Math.max(0, at - now), pauseMs: Math.max(0, paused - now) };
}

/** Pauses `key` for at least `givenMs`; 0 only asks. Resolves with the milliseconds until the end of the pause. */
export async function pauseSlots(table: Table, key: string, givenMs: number): Promise<number> {
  const pauseMs = durationMs('pauseMs', givenMs);
  let until = 0;
  if (pauseMs === 0) {
    until = await table.read(() => readSchedule(table.find('slot', key), table.now()).pausedUntil);
  } else {
    await moveSchedule(table, key, (before, now) => {
      until = Math.max(before.pausedUntil, now + pauseMs);
      return { ...before, pausedUntil: until };
    });
  }
  return Math.max(0, until - table.now());
}

/** Changes the schedule of `key` in one transaction. It is kept until the next slot can no longer depend on it. */
function moveSchedule(
  table: Table,
  key: string,
  change: (before: Schedule, now: number) => Schedule | undefined,
): Promise<void> {
  return table.write('now', (writer) => {
    const now = table.now();
    const changed = change(readSchedule(writer.find('slot', key), now), now);
    if (changed === undefined) return;
    const { slotEnd, delayMs, pausedUntil } = changed;
    const expiresAt = Math.max(now, slotEnd, pausedUntil) + Math.max(delayMs, SLOT_REMEMBERED_MS);
    const content = Buffer.from(`${slotEnd} ${pausedUntil} ${now} ${delayMs}`);
    writer.put('slot', { key, content, expiresAt });
  });
}

/** The content includes the time of the write, so that a clock set back since lengthens no wait. */
function readSchedule(entry: Entry | undefined, now: number): Schedule {
  const numbers = entry === undefined ? [] : entry.content.toString().split(' ').map(Number);
  const [slotEnd = 0, pausedUntil = 0, writtenAt = now, delayMs = 0] = numbers.every(Number.isFinite)
    ? numbers
    : [];
  const setBackMs = Math.max(0, writtenAt - now);
  return { slotEnd: slotEnd - setBackMs, pausedUntil: pausedUntil - setBackMs, delayMs };
}
