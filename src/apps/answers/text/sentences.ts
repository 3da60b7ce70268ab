import { PURPOSES } from '../../../core/decision/decision.ts';
import type {
  DecisionUsage,
  PolicyLifetime,
  PolicyNextAttempt,
  Decision,
} from '../../../core/decision/index.ts';
import type { Suspect, Freshness, StatedLifetime } from '../../../core/lifecycle/index.ts';
import type { MatchedGroup, MatchedRule, Usage, UsageSource } from '../../../core/rules/index.ts';
import type { ReportedDecision } from '../verdict.ts';
import { ahead, truncateToWidth, duration } from './layout.ts';
import { printable, count, someOf } from '../../../core/base/index.ts';
import { describeOutcome, reasons } from '../../../core/decision/describe-decision.ts';

/** Names the agent and the group that applies. `hasNoGroup`: there is a file, but no group of it applies. */
export function agentSentence(agent: string, group: MatchedGroup | undefined, hasNoGroup: boolean): string {
  const name = printable(agent);
  if (group !== undefined) {
    return `${name} → group ${groupText(group)}`;
  }
  return hasNoGroup ? `${name} → no group names it, and there is no "*" group` : name;
}

const MAX_LINES = 5;

/** Names a group and its lines: `"*" at line 3`. */
export function groupText({ agent, lines }: MatchedGroup): string {
  return `"${printable(agent)}" at ${lines.length === 1 ? 'line' : 'lines'} ${someOf(lines.map(String), MAX_LINES)}`;
}

/** Formats a rule with its line number: `line 3  Disallow: /private`. */
export function ruleText({ line, directive, pattern }: MatchedRule): string {
  return `line ${line}  ${directive === 'allow' ? 'Allow' : 'Disallow'}: ${printable(pattern)}`;
}

/** Describes a response that does not look like a robots.txt. */
export function looksSentence(suspect: Suspect | undefined): string | undefined {
  return suspect && `like ${looks[suspect]} rather than a robots.txt`;
}

/** The same at the end of a line of a list. */
export function looksNote(suspect: Suspect | undefined): string {
  return suspect === undefined ? '' : `; robots.txt looks like ${looks[suspect]}`;
}

const looks: Readonly<Record<Suspect, string>> = {
  challenge: 'the challenge of a bot protection',
  blocked: 'the page of a firewall',
  login: 'a login page',
  html: 'a web page',
};

export function delaySentence(crawlDelayMs: number | undefined): string | undefined {
  if (crawlDelayMs === undefined) return undefined;
  return `Crawl-delay ${crawlDelayMs / 1_000} s (guards with \`pacing\` keep it)`;
}

/** Says what the site states about the purpose of the question, and where. */
export function purposeSentence({ purpose, preference, source, sources }: DecisionUsage): string {
  if (source === undefined) {
    const unread = sources.find(isUnread);
    const unclear = unread && `; in part not understood: ${statementText(unread)}`;
    return `${purpose}: the site does not say${unclear ?? ''}`;
  }
  const says = preference === 'disallow' ? 'not wanted' : 'welcome';
  return `${purpose}: ${says}, by ${statementText(source)}`;
}

function isUnread({ directive, malformed, preferences }: UsageSource): boolean {
  if (directive !== 'content-usage' && directive !== 'content-signal') return false;
  return malformed === true || Object.values(preferences).includes('unknown');
}

const MAX_STATEMENT = 200;

/** Formats a statement with its place: `line 3  Content-Usage: /a train-ai=n`, or `the header field Content-Usage: train-ai=n`. */
export function statementText({ line, directive, path, value }: UsageSource): string {
  const name = directive.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase());
  const place = line === undefined ? 'the header field' : `line ${line} `;
  const text = path === undefined ? value : `${path} ${value}`;
  return `${place} ${name}: ${truncateToWidth(printable(text), MAX_STATEMENT)}`;
}

/** What a site states about the use of a page, by which lines and specifications; `undefined` when it states nothing. */
export function usageText(stated: Usage): string | undefined {
  if (stated.sources.length === 0) return undefined;
  const purposes = PURPOSES.flatMap((purpose) =>
    stated[purpose] === 'unknown' ? [] : [`${purpose} ${stated[purpose] === 'allow' ? 'yes' : 'no'}`],
  );
  const lines = stated.sources.flatMap(({ line }) => (line === undefined ? [] : [line]));
  const parts = [
    ...purposes,
    ...(stated.use === undefined ? [] : [`use ${stated.use}`]),
    ...stated.licenses.slice(0, 3).map((license) => `licence ${printable(license)}`),
  ];
  const what = parts.length === 0 ? 'nothing readable' : parts.join(', ');
  const specifications = [...new Set(stated.sources.map(({ specification }) => specification))].join('; ');
  return `${what} (${lines.length === 1 ? 'line' : 'lines'} ${lines.slice(0, 5).join(', ')}, read by ${specifications}; reported, not enforced)`;
}

/** Explains the lifetime of a response: `max-age=60 raised to the floor of 10 min, 25 s taken off at random`. */
export function lifetimeReason({ why, jitterMs = 0 }: PolicyLifetime): string | undefined {
  if (why === undefined) return undefined;
  const jitter = jitterMs < 1 ? [] : [`${duration(jitterMs)} taken off at random`];
  // The lifetime is then no longer the profile's.
  const isSuspect = why.clampedBy === 'suspect' && why.source === 'default';
  const reason = isSuspect
    ? `a page came instead of the file, which is looked for again after ${duration(why.lifetimeMs)}`
    : `${statedReason(why)}${clamped(why)}`;
  return [reason, ...jitter].join(', ');
}

function statedReason(stated: StatedLifetime & Pick<Freshness, 'lifetimeMs'>): string {
  switch (stated.source) {
    case 's-maxage':
    case 'max-age':
      return stated.seconds === undefined
        ? `${stated.source} is not a whole number, which counts as 0`
        : `${stated.source}=${stated.seconds}${less(stated.ageSeconds)}`;
    case 'expires':
      if (stated.expiresAt === undefined) return 'Expires is not a date, which counts as past';
      return `Expires ${fromTo(stated.servedAt, stated.expiresAt)}${less(stated.servedAt === undefined ? 0 : stated.ageSeconds)}`;
    case 'no-store':
    case 'no-cache':
      return stated.source;
    case 'default':
      return `the response does not set it, so the profile's ${duration(stated.lifetimeMs)}`;
  }
}

function fromTo(servedAt: number | undefined, expiresAt: number): string {
  if (servedAt === undefined) return 'without a Date to count from';
  return expiresAt <= servedAt ? 'not after Date' : `${duration(expiresAt - servedAt)} after Date`;
}

function less(ageSeconds: number): string {
  return ageSeconds === 0 ? '' : ` less Age ${ageSeconds}`;
}

function clamped({ clampedBy, lifetimeMs }: Freshness): string {
  if (clampedBy === undefined) return '';
  if (clampedBy === 'suspect')
    return ` cut to ${duration(lifetimeMs)}, because a page came instead of the file`;
  return clampedBy === 'min'
    ? ` raised to the floor of ${duration(lifetimeMs)}`
    : ` cut to the ceiling of ${duration(lifetimeMs)}`;
}

/** Explains when the next attempt is made, and why. */
export function nextAttemptReason(next: PolicyNextAttempt, now: number): string {
  const when = ahead(next.at, now);
  switch (next.why) {
    case 'refresh-ahead':
      return `${when}, before it is stale, at the next question`;
    case 'backoff':
      return `${when}, our own backoff after ${count(next.failures, 'failure')} in a row`;
    case 'retry-after':
      return `${when}, as Retry-After asks: ${duration(next.pauseMs)}`;
  }
}

/** When the next attempt is made, while robots.txt is unreachable. */
export function retrySentence({ reason, ...more }: ReportedDecision, now: number): string | undefined {
  if (reason !== 'unreachable' || !('retryAt' in more) || more.retryAt === undefined) return undefined;
  return `next try ${ahead(more.retryAt, now)}`;
}

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
