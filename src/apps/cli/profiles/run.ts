import { type Layout, layoutOf, readFormat } from '../frame/settings.ts';
import {
  type Profile,
  type ProfileName,
  profileNames,
  profiles,
  classifyStatus,
  type UnreachablePhase,
} from '../../../core/lifecycle/index.ts';
import { dialects, type DialectTraits } from '../../../core/rules/dialect.ts';
import { definitions, duration, grid, type Palette, wrap } from '../../answers/text/layout.ts';
import { jsonLine, quoted, type Unversioned } from '../../../core/base/index.ts';
import { writeWhole } from '../../answers/text/output.ts';
import { type Session, UsageError } from '../../answers/session.ts';
import { type ParsedArguments, type ExitCode, exitCode } from '../frame/command.ts';
import type { ProfileLine } from '../../answers/schema.ts';
import { notAmong } from '../frame/arguments.ts';

/** Prints one profile, or all of them side by side. */
export async function showProfiles(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const wanted = readNames(given);
  await writeWhole(
    session.stdout,
    readFormat(given) === 'json'
      ? wanted.map((name) => jsonLine<ProfileLine>(asData(profiles[name]))).join('')
      : forPeople(wanted, layoutOf(given, session)),
  );
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

function forPeople(names: readonly ProfileName[], { colours, width = DEFAULT_WIDTH }: Layout): string {
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

/** Labelled facts. Every profile has the same labels, so that a table can show profiles side by side. */
type Facts = readonly (readonly [label: string, text: string])[];

/** The meaning of each response for robots.txt under a profile, and its duration. */
function profileFacts(profile: Profile): Facts {
  const { lifetime, robotsRetry, retryAfter } = profile;
  return [
    ['200', meaning(200, profile)],
    ['401, 403', both(401, 403, profile)],
    ['404, 410', both(404, 410, profile)],
    ['429', meaning(429, profile)],
    ['5xx, network failure', meaning(503, profile)],
    ['other statuses', meaning(600, profile)],
    ['redirects followed', String(profile.maxRedirects)],
    ['one redirect more', profile.tooManyRedirects],
    ['a disallowed redirect', profile.disallowedRedirect],
    ['a challenge page', profile.challenge === 'as-status' ? 'by its status' : 'unreachable'],
    ['lifetime by default', duration(lifetime.defaultMs)],
    ['least, most', `${duration(lifetime.minMs)}, ${duration(lifetime.maxMs)}`],
    ['revalidates the copy', yesOrNo(profile.conditionalRequests)],
    [
      'copy used after a 4xx',
      profile.keepCopyOnUnavailableMs === 0 ? 'no' : duration(profile.keepCopyOnUnavailableMs),
    ],
    ['pause after a failure', `${duration(robotsRetry.initialMs)} to ${duration(robotsRetry.maxMs)}`],
    ['Retry-After', `${duration(retryAfter.minMs)} to ${duration(retryAfter.maxMs)}`],
  ];
}

/** The rules by which a dialect parses and matches the file. */
function readingFacts(traits: DialectTraits): Facts {
  return [
    ['deciding rule', traits.decides === 'longest' ? 'longest' : 'first'],
    ['Allow', yesOrNo(traits.allowIsAKey)],
    ['* and $', traits.wildcards ? 'wildcard, end' : 'literal'],
    ['compared with', traits.targetHasQuery ? 'path, query' : 'path'],
    ['a group ends', traits.blankLineEndsRecord ? 'at a blank line' : 'at the next one'],
    ['agent names', traits.agentMatch === 'whole' ? 'match exactly' : 'match as substring'],
    ['misspelt keys', traits.lenient ? 'forgiven' : 'unknown'],
  ];
}

/** Describes the phases of an outage, from the first failure. */
function phaseFacts({ whileUnreachable }: Profile): string[] {
  return whileUnreachable.map((phase, index) => {
    const when =
      phase.untilMs === null
        ? index === 0
          ? 'without end'
          : 'after that'
        : `until ${duration(phase.untilMs)}`;
    return `${when}: ${treatment(phase)}`;
  });
}

function treatment({ withCopy, withoutCopy, whenSiteReachable }: UnreachablePhase): string {
  const usual = withCopy === withoutCopy ? withCopy : `${withCopy}, without a copy ${withoutCopy}`;
  return whenSiteReachable === undefined
    ? usual
    : `${usual}, if the site answers otherwise ${whenSiteReachable}`;
}

const meanings = {
  rules: 'its rules',
  unavailable: 'allow-all',
  restricted: 'disallow-all',
  unreachable: 'unreachable',
} as const;

function meaning(status: number, profile: Profile): string {
  return meanings[classifyStatus(status, profile)];
}

function both(one: number, other: number, profile: Profile): string {
  const [first, second] = [meaning(one, profile), meaning(other, profile)];
  return first === second ? first : `${first}, ${second}`;
}

function yesOrNo(yes: boolean): string {
  return yes ? 'yes' : 'no';
}
