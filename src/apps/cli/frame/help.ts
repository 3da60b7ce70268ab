import { definitions, wrap } from '../../answers/text/layout.ts';
import { type Command, exitCode, type CommandOption, commonOptions } from './command.ts';

const CLAIM = 'canfetch answers: may this agent fetch this URL, and why?';

/** Below this width tables would be harder to read than lines that the terminal breaks. */
const MIN_WIDTH = 60;
/** Longer lines of prose are hard to read. */
const MAX_WIDTH = 100;
/** For files and pipes: what a pager shows in the usual terminal. */
const DEFAULT_WIDTH = 80;
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

/** The text of `canfetch --help`. `width` is the terminal's; absent for files and pipes. */
export function programHelp(commands: readonly Command[], defaultCommand: Command, width?: number): string {
  const room = roomIn(width);
  return page([
    [CLAIM],
    ['Usage:', `  canfetch [COMMAND] [OPTION…] ${defaultCommand.operands}`],
    [
      'Commands:',
      ...table(
        commands.map(({ name, summary }) => [name, summary]),
        room,
      ),
    ],
    wrap(
      `Without a command, \`${defaultCommand.name}\` runs. Each command has its own help: canfetch ${defaultCommand.name} --help`,
      room,
    ),
    ['Options:', ...table(commonOptions.map(optionDefinition), room)],
    ['Examples:', ...commands.flatMap(({ examples }) => exampleLines(examples, room, 1))],
    [
      ...wrap('Exit codes (the help of each command has the details):', room),
      ...table([...programExitCodes, ...commonExitCodes], room),
    ],
  ]);
}

/** The text of `canfetch COMMAND --help`. `width` is the terminal's; absent for files and pipes. */
export function commandHelp(command: Command, width?: number): string {
  const room = roomIn(width);
  return page([
    wrap(`${command.summary}.`, room),
    ['Usage:', `  canfetch ${command.name} [OPTION…] ${command.operands}`.trimEnd()],
    wrap(command.operandsHelp, room),
    ['Options:', ...table([...command.options, ...commonOptions].map(optionDefinition), room)],
    ['Examples:', ...exampleLines(command.examples, room)],
    ['Exit codes:', ...table([...Object.entries(command.exitCodes), ...commonExitCodes], room)],
    (command.notes ?? []).flatMap((note) => wrap(note, room)),
  ]);
}

function roomIn(width: number | undefined): number {
  return width === undefined ? DEFAULT_WIDTH : Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width));
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

function table(rows: Definitions, width: number): string[] {
  return definitions(rows, width, undefined, MAX_LABEL);
}

/** Examples may be wider than the terminal, because a command must stay on one line to be copied. */
function exampleLines(examples: Command['examples'], room: number, most = Infinity): string[] {
  const shown = Object.entries(examples).slice(0, most);
  return shown.flatMap(([line, does]) => [...wrap(does, room - 4).map((text) => `  # ${text}`), `  ${line}`]);
}

function page(sections: readonly (readonly string[])[]): string {
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
