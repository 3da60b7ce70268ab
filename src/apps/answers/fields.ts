import { fileName, printable, quoted, count, someOf } from '../../core/base/index.ts';
import { reasons } from '../../core/decision/describe-decision.ts';
import { delayName } from '../../core/pacing/index.ts';
import { type RobotsFile, usage } from '../../core/rules/index.ts';
import { familyNote } from './crawler-families.ts';
import type { UrlExplanation } from './explanation.ts';
import {
  whySentence,
  agentSentence,
  delaySentence,
  looksSentence,
  purposeSentence,
  retrySentence,
  ruleText,
  usageText,
  cause,
  lifetimeReason,
  nextAttemptReason,
} from './text/sentences.ts';
import { ago, duration, type Field, ahead, instant } from './text/layout.ts';
import type { ReportedDecision } from './verdict.ts';
import type { OriginPacing, OriginPolicy, Pause, PolicyHop } from '../../core/decision/index.ts';

/** A decision: the agent, the deciding rule and the robots.txt. `file`: what it rests on. */
export function decisionFields(
  decision: ReportedDecision,
  file: RobotsFile | undefined,
  now: number,
): readonly Field[] {
  return [
    ...answerFields(decision, file),
    ['use', purposeText(decision)],
    ['why', whySentence(decision)],
    ['robots', robotsText(decision)],
    ...fileFields(decision),
    ['cache', cacheText(decision, now)],
    ['delay', delaySentence(decision.crawlDelayMs)],
    ['retry', retrySentence(decision, now)],
  ];
}

/** The agent, the rule that decides, and what the owner of the agent says of it. */
export function answerFields(decision: ReportedDecision, file: RobotsFile | undefined): readonly Field[] {
  const { agent, group, reason, rule } = decision;
  const noRule = reason === 'no-rule' ? `${reasons[reason].what}, so ${reasons[reason].so}` : undefined;
  return [
    ['agent', agentSentence(agent, group, reason === 'no-group')],
    ['rule', rule === undefined ? noRule : ruleText(rule)],
    ['note', familyNote(decision, file)],
  ];
}

/** What is odd about the file. */
function fileFields({ robots: { suspect, truncated } }: ReportedDecision): readonly Field[] {
  return [
    ['looks', looksSentence(suspect)],
    ['file', truncated && 'is longer than what is read; rules after that limit are ignored'],
  ];
}

function robotsText({ robots, reason }: ReportedDecision): string | undefined {
  if (!('finalUrl' in robots)) return fileName(robots.file);
  if (reason === 'robots-txt') return undefined;
  const way = robots.hops === 0 ? [] : [`${count(robots.hops, 'redirect')} from ${printable(robots.url)}`];
  const status = robots.status === undefined ? [] : [String(robots.status)];
  return [printable(robots.finalUrl), ...status, ...way].join('  ');
}

function cacheText({ robots }: ReportedDecision, now: number): string | undefined {
  if (!('finalUrl' in robots) || robots.fetchedAt === undefined) return undefined;
  const { fetchedAt, staleAt } = robots;
  const fresh =
    staleAt === undefined ? '' : staleAt > now ? `, fresh for ${duration(staleAt - now)}` : ', stale';
  return `fetched ${ago(fetchedAt, now)}${fresh}`;
}

function purposeText({ allowed, reason, usage }: ReportedDecision): string | undefined {
  return usage && allowed && reason !== 'robots-txt' ? purposeSentence(usage) : undefined;
}

/** A decision with everything that it depends on. */
export function explanationFields(explanation: UrlExplanation, now: number): readonly Field[] {
  const { decision } = explanation;
  return [
    ...answerFields(decision, explanation.file),
    ...circumstanceFields(explanation),
    ...originFields(explanation, now),
    ['delay', delaySentence(decision.crawlDelayMs)],
    ['purpose', purposeText(decision)],
    ['use', usageSentence(explanation)],
  ];
}

function circumstanceFields({ runnerUp, nearMiss, runsOn, star }: UrlExplanation): readonly Field[] {
  const starRule = star?.rule === undefined ? '' : `, by ${ruleText(star.rule)}`;
  return [
    ['beats', runnerUp && `${ruleText(runnerUp.rule)}, ${whyLost[runnerUp.lost]}`],
    [
      'but',
      star &&
        `"*" is ${star.allowed ? 'allowed' : 'disallowed'}${starRule}; a group that names the agent replaces it`,
    ],
    [
      'group',
      runsOn &&
        `it began on line ${runsOn.from}: ${quoted(runsOn.directive)} on line ${runsOn.line} does not end a group`,
    ],
    ['close', nearMiss && `${ruleText(nearMiss.rule)}, ${whyMissed[nearMiss.differs]}`],
  ];
}

const whyMissed = {
  case: 'but for the case of its letters',
  slash: 'but for the slash at the end of the path',
  start: 'but for what is before it: rules start at the root of the site',
} as const;

const whyLost = {
  shorter: 'which is shorter',
  tie: 'which is as long: allow goes before disallow, and the first line before others',
  later: 'which comes later: the first match decides',
} as const;

function originFields({ decision, policy }: UrlExplanation, now: number): readonly Field[] {
  if (policy === undefined) {
    if ('finalUrl' in decision.robots) return [];
    return [['robots', fileName(decision.robots.file)], ...fileFields(decision)];
  }
  if (decision.reason === 'robots-txt') return [['why', whySentence(decision)]];
  const { file } = policy;
  return [...attemptFields(policy, now), ['file', file && sizeSentence(file)]];
}

/** Usage preferences that the site states for the page; `undefined` when it states none. They do not affect fetching. */
function usageSentence({ file, decision }: UrlExplanation): string | undefined {
  if (file === undefined || decision.reason === 'robots-txt') return undefined;
  return usageText(usage(file, decision.url, decision.agent));
}

/** Everything known of an origin. */
export function policyFields(policy: OriginPolicy, now: number): Field[] {
  const { file, rules, agent, group, crawlDelayMs, requestRateMs, sitemaps, state } = policy;
  if (rules === undefined) return [...attemptFields(policy, now), ['agent', printable(agent)]];
  return [
    ...attemptFields(policy, now),
    ['file', file && sizeSentence(file)],
    ['copy', file && state === 'last-good' ? `the last good one, ${ago(file.fetchedAt, now)}` : undefined],
    ['agent', agentSentence(agent, group, true)],
    ['delay', delaySentence(crawlDelayMs)],
    [
      'rate',
      requestRateMs === undefined
        ? undefined
        : `Request-rate: ${requestRateMs / 1_000} s from one request to the next (guards with \`pacing\` keep it)`,
    ],
    ['use', usageText(usage(rules, '/', agent))],
    ['groups', groupList(policy)],
    ['sitemaps', shortList(sitemaps.map(({ url }) => printable(url)))],
  ];
}

/** The outcome of the last attempt, and its lifetime. */
export function attemptFields(policy: OriginPolicy, now: number): Field[] {
  const { attempt, robots, lifetime, nextAttempt, failure, pacing, site, suspect } = policy;
  return [
    ['why', whySentence(policy)],
    ['robots', attempt === undefined ? printable(robots.url) : shortHops(attempt.hops)],
    ['looks', looksSentence(suspect)],
    ['fetched', lifetime && `${ago(lifetime.fetchedAt, now)} (${instant(lifetime.fetchedAt)})`],
    ['fresh', lifetime && freshness(lifetime.staleAt, now)],
    ['because', lifetime && lifetimeReason(lifetime)],
    [
      'failed',
      failure &&
        `${count(failure.attempts, 'time')} in a row since ${instant(failure.since)}, at last ${ago(failure.at, now)} (${cause(robots)})`,
    ],
    ['next', nextAttempt && nextAttemptReason(nextAttempt, now)],
    ['paused', pacing?.pause && pauseSentence(pacing.pause, now)],
    ['queue', pacing && queueSentence(pacing, now)],
    ['site', site && `${site.reachable ? 'reachable' : 'not reachable'} ${ago(site.at, now)}`],
  ];
}

/** The pause of page requests in force. */
function pauseSentence({ status, incident, until, delayFrom }: Pause, now: number): string {
  const who = status === undefined ? 'the site' : String(status);
  const did = delayFrom === 'retry-after' ? 'asked for a pause' : 'named no time: a guessed pause';
  return `${who} ${did} (incident ${incident}) that ends ${ahead(until, now)}`;
}

/** The page requests of this process, if it has any. */
function queueSentence(
  { scope, waiting, inFlight, nextAt, drainsAt, delayFrom }: OriginPacing,
  now: number,
): string | undefined {
  if (waiting + inFlight.length === 0) return undefined;
  const last = waiting > 1 ? `, the last about ${ahead(drainsAt, now)}` : '';
  return `${printable(scope)}: ${waiting} waiting, ${inFlight.length} in flight; the next may start ${ahead(nextAt, now)} (${delayName(delayFrom)})${last}`;
}

function freshness(staleAt: number, now: number): string {
  return staleAt <= now ? `no longer (since ${instant(staleAt)})` : `until it ends ${ahead(staleAt, now)}`;
}

/** Describes the size and type of a file: `214 bytes of the 512,000 that are read (0.04 %), text/plain`. */
export function sizeSentence({
  sizeBytes,
  limitBytes,
  truncated,
  contentType,
}: NonNullable<OriginPolicy['file']>): string {
  const share = (100 * sizeBytes) / limitBytes;
  const percent = share >= 1 || sizeBytes === 0 ? Math.round(share) : share.toPrecision(1);
  const size = truncated
    ? `is longer than the ${limitBytes.toLocaleString('en')} bytes that are read; the rest is ignored`
    : `${count(sizeBytes, 'byte')} of the ${limitBytes.toLocaleString('en')} that are read (${percent} %)`;
  return contentType === undefined ? size : `${size}, ${printable(contentType)}`;
}

const MAX_LISTED = 10;

function groupList({ groups }: OriginPolicy): string {
  return shortList(
    groups.map(({ agentLines, rules }) => {
      const names = agentLines.flatMap((each) => each.names.map((name) => quoted(name)));
      return `${someOf(names, MAX_LISTED)} (${count(rules.length, 'rule')})`;
    }),
  );
}

function shortList(items: readonly string[]): string {
  return items.length === 0 ? 'none' : someOf(items, MAX_LISTED, ' · ');
}

/** The redirects on one line: `301 → https://www.example.com/robots.txt 200`. */
function shortHops(hops: readonly PolicyHop[]): string {
  return hops
    .map(({ url, status }) => [printable(url), ...(status === undefined ? [] : [String(status)])].join('  '))
    .join(' → ');
}
