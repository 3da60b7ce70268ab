import { cut, widthOf } from './layout.ts';
import type { Sink } from '../session.ts';

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

  /** Draws, unless it was drawn a moment ago: what there is to say, and how many are done in a second. */
  show(done: number, parts: () => readonly string[]): void {
    const now = performance.now();
    if (now - this.drawnAt < REDRAW_EVERY_MS) return;
    this.drawnAt = now;
    const perSecond = Math.round((done / Math.max(1, now - this.startedAt)) * 1_000);
    const line = [...parts(), `${perSecond.toLocaleString('en')}/s`].join(' · ');
    // A line that the terminal breaks could not be taken away again.
    this.sink.write(`${CLEAR_LINE}${cut(line, widthOf(this.sink))}`);
    this.visible = true;
  }

  /** Makes room for other output on the same terminal. */
  clear(): void {
    if (this.visible) this.sink.write(CLEAR_LINE);
    this.visible = false;
    this.drawnAt = -REDRAW_EVERY_MS;
  }
}
