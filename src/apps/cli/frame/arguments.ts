import { parseArgs, type ParseArgsConfig } from 'node:util';
import { type Command, type CommandOption, type ParsedArguments, commonOptions } from './command.ts';
import { UsageError } from '../../answers/session.ts';
import { closestChoice, omitUndefined, quoted } from '../../../core/base/index.ts';

/**
 * Parses the arguments of `command` with the option table of the command.
 *
 * @throws UsageError for an unknown option, an option without its value, a repeated option that must not repeat, or
 *   a value that is not among the choices.
 */
export function readArguments(command: Command, argv: readonly string[]): ParsedArguments {
  const table = [...command.options, ...commonOptions];
  // Messages of the strict mode do not say what to do. The code below makes all of its checks.
  const { tokens } = parseArgs({
    args: [...argv],
    options: config(table),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const switches = new Set<string>();
  const values = new Map<string, readonly string[]>();
  const operands: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value);
    if (token.kind !== 'option') continue;
    const option = table.find(({ name }) => name === token.name);
    if (!token.rawName.startsWith('--')) assertTwoDashes(table, argv[token.index] ?? '');
    if (option === undefined) throw unknownOption(command, table, token.rawName);
    if (option.value === undefined) {
      if (token.value !== undefined) {
        throw new UsageError(`Expected --${option.name} without a value, got ${quoted(token.value)}`);
      }
      switches.add(option.name);
    } else {
      const given = values.get(option.name) ?? [];
      const swallowed = token.inlineValue !== true && /^-./.test(token.value ?? '');
      values.set(option.name, [...given, checkedValue(option, swallowed ? undefined : token.value, given)]);
    }
  }
  return { switches, values, operands };
}

function config(table: readonly CommandOption[]): NonNullable<ParseArgsConfig['options']> {
  return Object.fromEntries(
    table.map(({ name, short, value }) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', multiple: true, ...omitUndefined({ short }) },
    ]),
  );
}

function checkedValue(option: CommandOption, value: string | undefined, given: readonly string[]): string {
  const { name, choices } = option;
  if (value === undefined || value === '') {
    throw new UsageError(`Expected a value after --${name}, got none; write --${name} ${option.value}`);
  }
  if (given.length > 0 && option.repeatable !== true) {
    // The value may be a URL with a password.
    throw new UsageError(`Expected --${name} once, got it again; leave one of them out`);
  }
  if (choices !== undefined && !choices.includes(value)) {
    throw new UsageError(
      `Expected --${name} to be one of ${choices.join(', ')}, got ${quoted(value)}${hint(value, choices)}`,
    );
  }
  return value;
}

/**
 * Refuses `-agent NAME`, which would otherwise be read as `-a gent` followed by an operand.
 *
 * @throws UsageError when `argument` is one dash and the long name of an option.
 */
function assertTwoDashes(table: readonly CommandOption[], argument: string): void {
  // Without the value, which may be a URL with a password.
  const [written = ''] = argument.slice(1).split('=');
  const meant = table.find(({ name }) => name === written);
  if (meant === undefined) return;
  throw new UsageError(
    `Expected two dashes before the long name of an option, got ${quoted(`-${written}`)}; did you mean --${meant.name}?`,
  );
}

function unknownOption(command: Command, table: readonly CommandOption[], got: string): UsageError {
  const near = closestMatch(
    got.replace(/^-+/, ''),
    table.map(({ name }) => name),
  );
  const hint = near === undefined ? `canfetch ${command.name} --help lists them` : `did you mean --${near}?`;
  return new UsageError(`Expected an option that \`${command.name}\` has, got ${quoted(got)}; ${hint}`);
}

/** The end of a message about `word`: the name that was probably meant, or what to do otherwise. */
function hint(word: string, names: readonly string[], otherwise?: string): string {
  const near = closestMatch(word, names);
  const what = near === undefined ? otherwise : `did you mean ${near}?`;
  return what === undefined ? '' : `; ${what}`;
}

/** Finds the name that `word` was meant to be: one that it contains or is the beginning of, or misspells. */
function closestMatch(word: string, names: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const overlaps = (name: string): boolean =>
    (lower.length >= 2 && name.startsWith(lower)) || (name.length >= 3 && lower.includes(name));
  return names.find((name) => name === lower) ?? names.find(overlaps) ?? closestChoice(lower, names);
}

/**
 * The error for a word that is not among the choices, with a suggestion.
 *
 * @param expected What was expected, such as `a shell`.
 * @param otherwise What to do when no choice is near; nothing when the list of choices says enough.
 */
export function notAmong(
  expected: string,
  choices: readonly string[],
  got: string | undefined,
  otherwise?: string,
): UsageError {
  const list = `Expected ${expected} (${choices.join(', ')})`;
  if (got === undefined) return new UsageError(`${list}, got nothing`);
  return new UsageError(`${list}, got ${quoted(got)}${hint(got, choices, otherwise)}`);
}
