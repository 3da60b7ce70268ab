import { styleText } from 'node:util';
import type { Session, Sink } from './session.ts';

/** The few styles there are. */
export interface Palette {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly unsure: (text: string) => string;
  readonly faint: (text: string) => string;
}

const plain = (text: string): string => text;
const colourless: Palette = { good: plain, bad: plain, unsure: plain, faint: plain };

type Format = Parameters<typeof styleText>[0];
// Whether to colour is settled below, for the stream at hand rather than for the process.
const style =
  (format: Format) =>
  (text: string): string =>
    styleText(format, text, { validateStream: false });
const coloured: Palette = {
  good: style(['bold', 'green']),
  bad: style(['bold', 'red']),
  unsure: style(['bold', 'yellow']),
  faint: style('dim'),
};

/**
 * Colours for `sink`: never with `--no-color`; else as FORCE_COLOR says; else never with NO_COLOR (whatever its
 * value, unless empty) or on a dumb terminal; else when it is a terminal.
 */
export function paletteFor(sink: Sink, env: Session['env'], noColour: boolean): Palette {
  const { FORCE_COLOR: force, NO_COLOR: no, TERM: terminal } = env;
  if (noColour) return colourless;
  if (force !== undefined && force !== '') return force === '0' || force === 'false' ? colourless : coloured;
  if ((no !== undefined && no !== '') || terminal === 'dumb') return colourless;
  return sink.isTTY === true ? coloured : colourless;
}
