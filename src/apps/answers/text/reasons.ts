import type { Decision } from '../../../core/decision/index.ts';
import { describeOutcome, reasons } from '../../../core/decision/describe-decision.ts';
import type { ReportedDecision } from '../verdict.ts';
import { looksSentence, purposeSentence, retrySentence, ruleText } from './sentences.ts';
import type { z } from 'zod';
import { printable } from '../../../core/base/index.ts';

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

/** What a schema expected, and what came. */
export function inputSentence({ issues }: z.ZodError): string {
  const told = issues
    .slice(0, MAX_TOLD)
    .map(({ path, message }) => `${path.join('.') || 'the whole'}: ${message}`);
  return `Expected other input; ${told.join('; ')}`;
}
