import { type Command, type CommandOption, commonOptions } from './command.ts';
import { exitCode } from './exit-code.ts';

const CLAIM = 'canfetch answers: may this agent fetch this URL, and why?';
const exitCodesHelp: readonly (readonly [string, string])[] = [
  [String(exitCode.allowed), 'every URL is allowed'],
  [String(exitCode.disallowed), 'at least one is disallowed'],
  [String(exitCode.undecided), 'at least one is undecided, because robots.txt is unreachable (outranks 1)'],
  [
    String(exitCode.usage),
    'wrong usage, or a URL that is none; the others are still answered (outranks 1 and 3)',
  ],
  [`${exitCode.interrupted}`, 'interrupted by Ctrl-C'],
];

/** What `canfetch --help` prints. */
export function programHelp(commands: readonly Command[], defaultCommand: Command): string {
  return page([
    [CLAIM],
    ['Usage:', `  canfetch [COMMAND] [OPTION…] ${defaultCommand.operands}`],
    [
      'Commands:',
      ...columns(commands.map(({ name, summary, operands }) => [`${name} ${operands}`, summary])),
    ],
    [
      `Without a command it is \`${defaultCommand.name}\`. Each has its own page: canfetch ${defaultCommand.name} --help`,
    ],
    ['Options:', ...columns(commonOptions.map(optionRow))],
    ['Examples:', ...exampleLines(defaultCommand)],
    ['Exit codes:', ...columns(exitCodesHelp)],
  ]);
}

/** What `canfetch COMMAND --help` prints. */
export function commandHelp(command: Command): string {
  return page([
    [`${command.summary}.`],
    ['Usage:', `  canfetch ${command.name} [OPTION…] ${command.operands}`],
    [command.operandsHelp],
    ['Options:', ...columns([...command.options, ...commonOptions].map(optionRow))],
    ['Examples:', ...exampleLines(command)],
    ['Exit codes:', ...columns(exitCodesHelp)],
    command.notes,
  ]);
}

function optionRow({
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

function exampleLines(command: Command): string[] {
  return command.examples.flatMap(({ line, does }) => [`  # ${does}`, `  ${line}`]);
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

function page(sections: readonly (readonly string[])[]): string {
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
