import { type Command, type CommandOption, commonOptions } from './command.ts';
import { exitCode } from './exit-code.ts';
import { definitions } from '../../report/text/index.ts';

const CLAIM = 'canfetch answers: may this agent fetch this URL, and why?';

type Definitions = readonly (readonly [string, string])[];

const programExitCodes: Definitions = [
  [String(exitCode.success), 'yes: allowed, nothing found, no difference'],
  [String(exitCode.negative), 'no: disallowed, something found, a difference'],
  [String(exitCode.usage), 'wrong usage, or input that is not what it must be'],
  [String(exitCode.undecided), 'undecided, because a robots.txt is unreachable'],
];
const commonExitCodes: Definitions = [
  [String(exitCode.failure), 'something broke that should not have'],
  [String(exitCode.interrupted), 'interrupted by Ctrl-C'],
  [String(exitCode.brokenPipe), 'whoever read the output went away'],
];

/** The text of `canfetch --help`. */
export function programHelp(commands: readonly Command[], defaultCommand: Command, width?: number): string {
  return page([
    [CLAIM],
    ['Usage:', `  canfetch [COMMAND] [OPTION…] ${defaultCommand.operands}`],
    [
      'Commands:',
      ...definitions(
        commands.map(({ name, summary, operands }) => [`${name} ${operands}`, summary]),
        width,
      ),
    ],
    [
      `Without a command it is \`${defaultCommand.name}\`. Each has its own page: canfetch ${defaultCommand.name} --help`,
    ],
    ['Options:', ...definitions(commonOptions.map(optionDefinition), width)],
    ['Examples:', ...commands.flatMap(({ examples }) => exampleLines(examples.slice(0, 1)))],
    [
      'Exit codes (what they say in particular is on the page of each command):',
      ...definitions([...programExitCodes, ...commonExitCodes], width),
    ],
  ]);
}

/** The text of `canfetch COMMAND --help`. */
export function commandHelp(command: Command, width?: number): string {
  const ownExitCodes = command.exitCodes.map(({ code, says }) => [String(code), says] as const);
  return page([
    [`${command.summary}.`],
    ['Usage:', `  canfetch ${command.name} [OPTION…] ${command.operands}`],
    [command.operandsHelp],
    ['Options:', ...definitions([...command.options, ...commonOptions].map(optionDefinition), width)],
    ['Examples:', ...exampleLines(command.examples)],
    ['Exit codes:', ...definitions([...ownExitCodes, ...commonExitCodes], width)],
    command.notes,
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

function exampleLines(examples: Command['examples']): string[] {
  return examples.flatMap(({ line, does }) => [`  # ${does}`, `  ${line}`]);
}

function page(sections: readonly (readonly string[])[]): string {
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
