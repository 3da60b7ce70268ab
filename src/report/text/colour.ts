import { styleText } from 'node:util';
import type { Session } from '../session.ts';

/** The few styles there are. */
export interface Palette {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly unsure: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly strong: (text: string) => string;
}

const plain = (text: string): string => text;
const colourless: Palette = { good: plain, bad: plain, unsure: plain, faint: plain, strong: plain };

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
  strong: style('bold'),
};

/** When to colour: `auto` heeds the environment and the stream. */
export type ColourChoice = 'auto' | 'always' | 'never';

/**
 * Colours for standard output: as `when` says; else as FORCE_COLOR says; else never with NO_COLOR
 * (whatever its value, unless empty) or on a dumb terminal; else when it is a terminal.
 */
export function paletteFor({ stdout, env }: Session, when: ColourChoice): Palette {
  if (when === 'never' || when === 'always') return when === 'always' ? coloured : colourless;
  const { FORCE_COLOR: force, NO_COLOR: no, TERM: terminal } = env;
  if (force !== undefined && force !== '') return force === '0' || force === 'false' ? colourless : coloured;
  if ((no !== undefined && no !== '') || terminal === 'dumb') return colourless;
  return stdout.isTTY === true ? coloured : colourless;
}
