import { type Palette, paletteFor, widthOf } from '../../answers/text/layout.ts';
import { quoted } from '../../../core/base/index.ts';
import { isPurpose, type Purpose } from '../../../core/decision/decision.ts';
import { type ProfileName, profileNames } from '../../../core/lifecycle/profile.ts';
import { tokenOf } from '../../../core/decision/agent-tokens.ts';
import { type ParsedArguments, type Format, listFormats } from './command.ts';
import { assertStore } from './named-store.ts';
import { type Session, UsageError } from '../../answers/session.ts';

/** Reads `--profile`, whose choices were checked already. */
export function readProfile({ values }: ParsedArguments): ProfileName {
  return profileNames.find((name) => name === values.get('profile')?.[0]) ?? 'rfc9309';
}

/**
 * Reads the agents in the order given, which is the order of preference. `*` selects the rules for agents that no
 * group names.
 *
 * @throws UsageError for an agent without a product token.
 */
export function readAgents(given: ParsedArguments): readonly string[] {
  const agents = given.values.get('agent') ?? [];
  for (const agent of agents) {
    if (isAgent(agent)) continue;
    throw new UsageError(
      `Expected --agent to hold a product token, got ${quoted(agent)}; ` +
        'write a name such as ExampleBot, or a User-Agent string such as "ExampleBot/1.0 (+https://example.com/bot)"',
    );
  }
  return agents;
}

/** Reads `--purpose`, whose choices were checked already. */
export function readPurpose(given: ParsedArguments): Purpose | undefined {
  const purpose = given.values.get('purpose')?.[0];
  return isPurpose(purpose) ? purpose : undefined;
}

/**
 * Whether `agent` is `*`, a product token or a User-Agent string with a product token. Warns of one that names no bot
 * (`CANFETCH_AGENT_UNNAMED`).
 */
export function isAgent(agent: string): boolean {
  return agent === '*' || (tokenOf(agent) !== undefined && !/[\r\n]/.test(agent));
}

/**
 * Reads `--store` of the commands that fetch.
 *
 * @throws UsageError for anything but a file, or the URL of a Redis or Valkey server.
 */
export function readStore(given: ParsedArguments): string | undefined {
  const store = given.values.get('store')?.[0];
  if (store !== undefined) assertStore(store);
  return store;
}

/** @throws UsageError when the value is no whole number from `min` to `max`. */
export function readWholeNumber(
  { values }: ParsedArguments,
  option: string,
  min: number,
  max: number,
): number | undefined {
  const text = values.get(option)?.[0];
  if (text === undefined) return undefined;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (number >= min && number <= max) return number;
  throw new UsageError(
    `Expected --${option} to be a whole number from ${min} to ${max}, got ${quoted(text)}`,
  );
}

/** @throws UsageError when the value is no date. */
export function readDate({ values }: ParsedArguments, option: string): string | undefined {
  const text = values.get(option)?.[0];
  if (text === undefined || !Number.isNaN(Date.parse(text))) return text;
  throw new UsageError(
    `Expected --${option} to be a date, got ${quoted(text)}; write 2026-11-23, or with a time 2026-11-23T08:00Z`,
  );
}

/** Settings of the commands that fetch from origins. */
export interface OnlineSettings {
  /** Product tokens in order of preference. When empty, the client uses its own name. */
  readonly agents: readonly string[];
  readonly profile: ProfileName;
  /** What the pages are fetched for. */
  readonly purpose: Purpose | undefined;
  readonly deadlineMs: number | undefined;
  /** File of SQLite, or `redis:` URL, of a store that keeps records between runs. */
  readonly store: string | undefined;
  /** File that evidence is appended to. */
  readonly evidence: string | undefined;
  /** URL of a proxy for all requests. When absent, the environment variables apply. */
  readonly proxy: string | undefined;
}

/** The agents as the client takes them. Without any, it asks for itself. */
export function agentOf({ agents }: OnlineSettings): readonly string[] | undefined {
  return agents.length === 0 ? undefined : agents;
}

/**
 * Reads the settings from the arguments.
 *
 * @throws UsageError for an invalid value.
 */
export function onlineSettings(given: ParsedArguments): OnlineSettings {
  return {
    agents: readAgents(given),
    profile: readProfile(given),
    purpose: readPurpose(given),
    deadlineMs: readWholeNumber(given, 'deadline-ms', 1, 2 ** 31 - 1),
    store: readStore(given),
    evidence: given.values.get('evidence')?.[0],
    proxy: given.values.get('proxy')?.[0],
  };
}

/** @throws UsageError when there is an operand. */
export function assertNoOperand({ operands: [operand] }: ParsedArguments): void {
  if (operand !== undefined) throw new UsageError(`Expected no operand, got ${quoted(operand)}`);
}

/** @throws UsageError unless there is exactly one operand. */
export function onlyOperand({ operands }: ParsedArguments, what: string): string {
  const [only, another] = operands;
  if (only === undefined) throw new UsageError(`Expected ${what}, got nothing`);
  if (another !== undefined) {
    throw new UsageError(`Expected ${what} alone, got ${quoted(another)} too; leave one of them out`);
  }
  return only;
}

/** How text output is laid out. */
export interface Layout {
  readonly colours: Palette;
  readonly width: number | undefined;
  readonly now: number;
}

export function layoutOf(session: Session): Layout {
  return { colours: paletteFor(session), width: widthOf(session.stdout), now: Date.now() };
}

/**
 * Reads `--format` and its short form `--json`.
 *
 * @throws UsageError when both are given and differ.
 */
export function readFormat({ switches, values }: ParsedArguments, byDefault: Format = 'text'): Format {
  const given = listFormats.find((format) => format === values.get('format')?.[0]);
  if (!switches.has('json')) return given ?? byDefault;
  if (given === undefined || given === 'json') return 'json';
  throw new UsageError(`Expected either --json or --format ${given}, got both; leave one of them out`);
}
