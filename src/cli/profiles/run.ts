import { colourChoice, readFormat } from '../frame/settings.ts';
import { type Profile, type ProfileName, profileNames, profiles } from '../../lifecycle/index.ts';
import { dialects } from '../../rules/dialect.ts';
import {
  definitions,
  grid,
  jsonLine,
  Output,
  type Palette,
  paletteFor,
  quoted,
  type Unversioned,
  widthOf,
  wrap,
} from '../../report/text/index.ts';
import type { ParsedArguments } from '../frame/command.ts';
import { type ExitCode, exitCode } from '../frame/exit-code.ts';
import { type Session, UsageError } from '../../report/index.ts';
import type { ProfileLine } from '../../report/schema.ts';
import { notAmong } from '../frame/suggestion.ts';
import { type Facts, phaseFacts, profileFacts, readingFacts } from './facts.ts';

/** Prints one profile, or all of them side by side. */
export async function showProfiles(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const wanted = readNames(given);
  const output = new Output(session.stdout);
  if (readFormat(given) === 'json') {
    for (const name of wanted) await output.write(jsonLine<ProfileLine>(asData(profiles[name])));
  } else
    await output.write(forPeople(wanted, paletteFor(session, colourChoice(given)), widthOf(session.stdout)));
  await output.release();
  return exitCode.success;
}

function readNames({ operands }: ParsedArguments): readonly ProfileName[] {
  if (operands.length > 1) {
    throw new UsageError(`Expected one profile, got ${quoted(operands[1] ?? '')} too; leave one of them out`);
  }
  const [wanted] = operands;
  if (wanted === undefined) return profileNames;
  const name = profileNames.find((each) => each === wanted);
  if (name !== undefined) return [name];
  throw notAmong('a profile', profileNames, wanted);
}

/** Converts a profile to plain data, and adds the traits of its dialect. */
function asData(profile: Profile): Unversioned<ProfileLine> {
  return { ...profile, dialectTraits: dialects[profile.dialect] };
}

/** For files and pipes. */
const DEFAULT_WIDTH = 80;

function forPeople(names: readonly ProfileName[], colours: Palette, width = DEFAULT_WIDTH): string {
  const [only, another] = names;
  if (only !== undefined && another === undefined) return page(single(only, colours, width));
  const phases = names.map((name) => [name, phaseFacts(profiles[name]).join('; ')] as const);
  return page([
    ...sideBySide(names, width).flatMap((rows) => [...grid(rows, colours.strong), '']),
    ...wrap('While robots.txt is unreachable, by time since the first failure', width).map(colours.strong),
    ...definitions(phases, width, colours.faint),
  ]);
}

/** Tables with as many profiles side by side as there is room for. */
function sideBySide(names: readonly ProfileName[], width: number): string[][][] {
  const labels = ['', ...allFacts(profiles.rfc9309).map(([label]) => label)];
  const tables: string[][][] = [];
  let left = 0;
  for (const name of names) {
    const column: readonly string[] = [name, ...allFacts(profiles[name]).map(([, text]) => text)];
    const needed = widest(column) + 2;
    const last = left >= needed ? tables.at(-1) : undefined;
    if (last === undefined) {
      tables.push(labels.map((label, row) => [label, column[row] ?? '']));
      left = width - widest(labels) - 2 - needed;
    } else {
      last.forEach((cells, row) => cells.push(column[row] ?? ''));
      left -= needed;
    }
  }
  return tables;
}

function widest(texts: readonly string[]): number {
  return Math.max(...texts.map((text) => text.length));
}

function single(name: ProfileName, colours: Palette, width: number): string[] {
  const phases = phaseFacts(profiles[name]).map(
    (text, index) => [index === 0 ? 'while unreachable' : '', text] as const,
  );
  return [
    colours.strong(name),
    ...definitions([...allFacts(profiles[name]), ...phases], width, colours.faint),
  ];
}

function allFacts(profile: Profile): Facts {
  return [...profileFacts(profile), ...readingFacts(dialects[profile.dialect])];
}

function page(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
