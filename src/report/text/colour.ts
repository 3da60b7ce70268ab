import { styleText } from 'node:util';
import type { Session } from '../session.ts';

/** The text styles of the output. */
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
// `paletteFor` decides whether to colour, for one stream rather than for the process.
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

/** When to colour. `auto` depends on the environment and the stream. */
export type ColourChoice = 'auto' | 'always' | 'never';

/**
 * Selects the colours for standard output. The first that applies decides: `when` unless it is `auto`; FORCE_COLOR;
 * no colours when NO_COLOR is not empty or the terminal is dumb; colours when standard output is a terminal.
 */
export function paletteFor({ stdout, env }: Session, when: ColourChoice): Palette {
  if (when === 'never' || when === 'always') return when === 'always' ? coloured : colourless;
  const { FORCE_COLOR: force, NO_COLOR: no, TERM: terminal } = env;
  if (force !== undefined && force !== '') return force === '0' || force === 'false' ? colourless : coloured;
  if ((no !== undefined && no !== '') || terminal === 'dumb') return colourless;
  return stdout.isTTY === true ? coloured : colourless;
}
