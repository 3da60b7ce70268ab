import { definitions, wrap } from '../../answers/text/layout.ts';
import { type Command, exitCode, type CommandOption, commonOptions } from './command.ts';

const CLAIM = 'canfetch answers: may this agent fetch this URL, and why?';

/** Of the usual terminal. */
const WIDTH = 80;
/** A label longer than this stands on a line of its own. */
const MAX_LABEL = 24;

type Definitions = readonly (readonly [label: string, text: string])[];

const programExitCodes: Definitions = [
  [String(exitCode.success), 'yes: allowed, nothing found'],
  [String(exitCode.negative), 'no: disallowed, something found'],
  [String(exitCode.usage), 'wrong usage, or invalid input'],
  [String(exitCode.undecided), 'undecided, because a robots.txt is unreachable'],
];
const commonExitCodes: Definitions = [
  [String(exitCode.failure), 'an internal error: a bug, or a failure such as a full disk'],
  [String(exitCode.interrupted), 'interrupted by Ctrl-C'],
  [String(exitCode.brokenPipe), 'the reader of the output closed it'],
];

/** The text of `canfetch --help`. */
export function programHelp(commands: readonly Command[], defaultCommand: Command): string {
  return page([
    [CLAIM],
    ['Usage:', `  canfetch [COMMAND] [OPTION…] ${defaultCommand.operands}`],
    ['Commands:', ...table(commands.map(({ name, summary }) => [name, summary]))],
    wrap(
      `Without a command, \`${defaultCommand.name}\` runs. Each command has its own help: canfetch ${defaultCommand.name} --help`,
      WIDTH,
    ),
    ['Options:', ...table(commonOptions.map(optionDefinition))],
    ['Examples:', ...commands.flatMap(({ examples }) => exampleLines(examples, 1))],
    [
      'Exit codes (the help of each command has the details):',
      ...table([...programExitCodes, ...commonExitCodes]),
    ],
  ]);
}

/** The text of `canfetch COMMAND --help`. */
export function commandHelp(command: Command): string {
  return page([
    wrap(`${command.summary}.`, WIDTH),
    ['Usage:', `  canfetch ${command.name} [OPTION…] ${command.operands}`.trimEnd()],
    wrap(command.operandsHelp, WIDTH),
    ['Options:', ...table([...command.options, ...commonOptions].map(optionDefinition))],
    ['Examples:', ...exampleLines(command.examples)],
    ['Exit codes:', ...table([...Object.entries(command.exitCodes), ...commonExitCodes])],
    (command.notes ?? []).flatMap((note) => wrap(note, WIDTH)),
  ]);
}

function optionDefinition({
  name,
  short,
  value,
  repeatable,
  choices,
  help,
}: CommandOption): readonly [string, string] {
  const left = `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
  const extra = [
    ...(repeatable === true ? ['repeatable'] : []),
    ...(choices === undefined ? [] : [choices.join(', ')]),
  ];
  return [left, extra.length === 0 ? help : `${help} (${extra.join('; ')})`];
}

function table(rows: Definitions): string[] {
  return definitions(rows, WIDTH, undefined, MAX_LABEL);
}

/** Examples may be wider than the terminal, because a command must stay on one line to be copied. */
function exampleLines(examples: Command['examples'], most = Infinity): string[] {
  const shown = Object.entries(examples).slice(0, most);
  return shown.flatMap(([line, does]) => [
    ...wrap(does, WIDTH - 4).map((text) => `  # ${text}`),
    `  ${line}`,
  ]);
}

function page(sections: readonly (readonly string[])[]): string {
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
