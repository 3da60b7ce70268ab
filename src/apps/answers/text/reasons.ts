import type { Decision } from '../../../core/decision/index.ts';
import { describeOutcome, reasons } from '../../../core/decision/describe-decision.ts';
import type { ReportedDecision } from '../verdict.ts';
import { looksSentence, purposeSentence, retrySentence, ruleText } from './sentences.ts';
import type { z } from 'zod';
import { closestChoice, quote, printable } from '../../../core/base/index.ts';

/** Describes the outcome of the fetch of robots.txt: a status, a failure, or both. Of a file: its name. */
export function cause(robots: ReportedDecision['robots']): string {
  return 'finalUrl' in robots ? describeOutcome(robots) : printable(robots.file);
}

/** The fields that the sentences use; decisions and policies both have them. */
interface KnownState {
  readonly state: Decision['state'];
  readonly reason?: ReportedDecision['reason'] | undefined;
  readonly robots: ReportedDecision['robots'];
  readonly because?: string | undefined;
  /** Absent of an unreachable site: it is for good. */
  readonly retryAt?: number | undefined;
}

/** Explains the state; `undefined` when the rules of a fresh file explain it fully. */
export function whySentence({ reason, state, robots, because, retryAt }: KnownState): string | undefined {
  switch (reason) {
    case 'robots-txt':
      return reasons[reason].what;
    case 'unavailable':
    case 'unreachable':
    case 'unreachable-expired':
    case 'unreachable-allowed':
    case 'restricted': {
      const { what, so } = reasons[reason];
      const isFinal = reason === 'unreachable' && retryAt === undefined;
      return `${what} (${cause(robots)}), so ${isFinal ? 'nothing may be fetched' : so}`;
    }
    case 'override':
      return `${reasons[reason].what}${because === undefined ? '' : ` (${printable(because)})`}`;
    case 'rule':
    case 'no-rule':
    case 'no-group':
    case undefined:
      return state === 'last-good'
        ? `robots.txt is unreachable (${cause(robots)}); the last good copy is used`
        : undefined;
  }
}

/** The reason on a part of a line: `line 3  Disallow: /private`, `unreachable: 503`. */
export function reasonText({ reason, state, robots, rule, usage, ...more }: ReportedDecision): string {
  const copy = state === 'last-good' ? ' (last good copy)' : '';
  switch (reason) {
    case 'rule':
    case 'no-rule':
    case 'no-group':
      if (more.allowed && usage?.preference === 'disallow') return purposeSentence(usage);
      return `${rule === undefined ? reasons[reason].what : ruleText(rule)}${copy}`;
    case 'robots-txt':
      return reasons[reason].what;
    case 'override':
      return whySentence({ reason, state, robots, ...more }) ?? reason;
    case 'unavailable':
    case 'unreachable':
    case 'unreachable-expired':
    case 'unreachable-allowed':
    case 'restricted':
      return `${reason}: ${cause(robots)}`;
  }
}

/** The sentences that follow a verdict: what decides, why, what the site wants, and when to ask again. */
export function becauseSentences(decision: ReportedDecision, now: number): string[] {
  const { reason, rule, robots, usage } = decision;
  const why = whySentence(decision);
  const { what, so } = reasons[reason];
  return [
    rule && `${ruleText(rule)} decides`,
    why ?? (rule === undefined && (so === undefined ? what : `${what}, so ${so}`)),
    decision.allowed && reason !== 'robots-txt' && usage && purposeSentence(usage),
    retrySentence(decision, now),
    robots.suspect && `The response looks ${looksSentence(robots.suspect)}`,
  ].filter((sentence) => typeof sentence === 'string');
}

/** More would not help: the first ones often cause the others. */
const MAX_TOLD = 3;

/** Says in plain words what a schema expected of `given`, and what came. */
export function inputSentence({ issues }: z.ZodError, given: unknown): string {
  const told = issues.slice(0, MAX_TOLD).map((issue) => issueSentence(issue, given));
  return `Expected ${told.join('; expected ')}`;
}

function issueSentence(issue: z.core.$ZodIssue, given: unknown): string {
  const name = issue.path.length === 0 ? 'the whole' : `\`${issue.path.map(String).join('.')}\``;
  switch (issue.code) {
    case 'invalid_type':
      return `${name} to be ${kinds[issue.expected] ?? issue.expected}, got ${kindOf(valueAt(given, issue.path))}`;
    case 'too_big':
      return `${name} to be ${bound('at most', Number(issue.maximum), issue.origin)}, got more`;
    case 'too_small':
      return `${name} to be ${bound('at least', Number(issue.minimum), issue.origin)}, got less`;
    case 'invalid_value': {
      const got = valueAt(given, issue.path);
      const meant = closestChoice(got, issue.values.map(String));
      const proposal = meant === undefined ? '' : `; did you mean ${meant}?`;
      return `${name} to be one of ${issue.values.join(', ')}, got ${quote(got)}${proposal}`;
    }
    case 'invalid_union':
      return `${name} to be ${issue.message}, got ${kindOf(valueAt(given, issue.path))}`;
    case 'unrecognized_keys':
      return `no ${issue.keys.slice(0, MAX_TOLD).map(quote).join(', ')}: there is nothing of that name`;
    default:
      return `another value of ${name}, got ${kindOf(valueAt(given, issue.path))}`;
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
};

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return String(value);
  return kinds[typeof value] ?? typeof value;
}

function bound(direction: string, count: number, origin: string): string {
  const number = count.toLocaleString('en');
  if (origin === 'string') return `${direction} ${number} character${count === 1 ? '' : 's'} long`;
  return origin === 'array' ? `a list of ${direction} ${number}` : `${direction} ${number}`;
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => Object(value)[key], given);
}
