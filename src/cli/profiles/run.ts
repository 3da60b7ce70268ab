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
  widthOf,
} from '../../report/text/index.ts';
import type { ParsedArguments } from '../frame/command.ts';
import { type ExitCode, exitCode } from '../frame/exit-code.ts';
import { type Session, UsageError } from '../../report/index.ts';
import { notAmong } from '../frame/suggestion.ts';
import { type Facts, phaseFacts, profileFacts, readingFacts } from './facts.ts';

/** Prints one profile, or all of them side by side. */
export async function showProfiles(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const wanted = readNames(given);
  const output = new Output(session.stdout);
  if (readFormat(given) === 'json') {
    for (const name of wanted) await output.write(jsonLine(asData(profiles[name])));
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
function asData(profile: Profile): object {
  return { ...profile, dialectTraits: dialects[profile.dialect] };
}

function forPeople(names: readonly ProfileName[], colours: Palette, width: number | undefined): string {
  const table = sideBySide(names);
  const lines = grid([['', ...names], ...table], colours.strong);
  const fits = width === undefined || lines.every((line) => line.length <= width);
  if (names.length > 1 && fits) {
    const heading = colours.strong('While robots.txt is unreachable, by time since the first failure');
    const phases = names.map((name) => [name, phaseFacts(profiles[name]).join('; ')] as const);
    return page([...lines, '', heading, ...definitions(phases, width, colours.faint)]);
  }
  return page(
    names.flatMap((name, index) => [...(index === 0 ? [] : ['']), ...single(name, colours, width)]),
  );
}

function sideBySide(names: readonly ProfileName[]): string[][] {
  const columns = names.map((name) => allFacts(profiles[name]));
  const [first = []] = columns;
  return first.map(([label], row) => [label, ...columns.map((facts) => facts[row]?.[1] ?? '')]);
}

function single(name: ProfileName, colours: Palette, width: number | undefined): string[] {
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
