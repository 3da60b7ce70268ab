import type { Sink } from './session.ts';
import { count } from './words.ts';

/** How a batch goes. */
export interface Tally {
  allowed: number;
  disallowed: number;
  undecided: number;
  invalid: number;
}

const REDRAW_EVERY_MS = 100;
const CLEAR_LINE = '\r\u001B[2K';

/** One line on a terminal that is written over and over. */
export class ProgressLine {
  private readonly sink: Sink;
  private readonly startedAt = performance.now();
  private drawnAt = -REDRAW_EVERY_MS;
  private visible = false;

  constructor(sink: Sink) {
    this.sink = sink;
  }

  /** Draws, unless it was drawn a moment ago. */
  show(tally: Tally): void {
    const now = performance.now();
    if (now - this.drawnAt < REDRAW_EVERY_MS) return;
    this.drawnAt = now;
    const done = tally.allowed + tally.disallowed + tally.undecided + tally.invalid;
    const perSecond = Math.round((done / Math.max(1, now - this.startedAt)) * 1_000);
    const parts = [
      count(done, 'URL'),
      `${tally.disallowed.toLocaleString('en')} disallowed`,
      `${tally.undecided.toLocaleString('en')} undecided`,
      ...(tally.invalid === 0 ? [] : [`${tally.invalid.toLocaleString('en')} invalid`]),
      `${perSecond.toLocaleString('en')}/s`,
    ];
    this.sink.write(`${CLEAR_LINE}${parts.join(' · ')}`);
    this.visible = true;
  }

  /** Makes room for other output on the same terminal. */
  clear(): void {
    if (this.visible) this.sink.write(CLEAR_LINE);
    this.visible = false;
    this.drawnAt = -REDRAW_EVERY_MS;
  }
}
