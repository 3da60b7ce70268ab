import { printable, quoted } from '../../core/base/index.ts';
import type { OriginPacing, OriginPolicy, Pause, PolicyHop } from '../../core/decision/index.ts';
import { usage } from '../../core/rules/index.ts';
import { cause, whySentence } from './text/reasons.ts';
import {
  agentSentence,
  delaySentence,
  lifetimeReason,
  looksSentence,
  nextAttemptReason,
  usageText,
} from './text/sentences.ts';
import { ago, ahead, count, type Field, instant } from './text/layout.ts';

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
        : `Request-rate: ${requestRateMs / 1_000} s from one request to the next (canfetch check does not wait; guards with \`pacing\` do)`,
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
function pauseSentence({ status, incident, until }: Pause, now: number): string {
  const who = status === undefined ? 'the site' : String(status);
  return `${who} asked for a pause (incident ${incident}) that ends ${ahead(until, now)}`;
}

/** The page requests of this process, if it has any. */
function queueSentence(
  { scope, waiting, inFlight, nextAt, drainsAt, delayFrom }: OriginPacing,
  now: number,
): string | undefined {
  if (waiting + inFlight.length === 0) return undefined;
  const last = waiting > 1 ? `, the last about ${ahead(drainsAt, now)}` : '';
  return `${printable(scope)}: ${waiting} waiting, ${inFlight.length} in flight; the next may start ${ahead(nextAt, now)} (${delayFrom})${last}`;
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
      const names = agentLines.flatMap((each) => each.names);
      const shown = names.slice(0, MAX_LISTED).map((name) => quoted(name));
      const more = names.length > MAX_LISTED ? ', …' : '';
      return `${shown.join(', ')}${more} (${count(rules.length, 'rule')})`;
    }),
  );
}

function shortList(items: readonly string[]): string {
  if (items.length === 0) return 'none';
  const shown = items.slice(0, MAX_LISTED).join(' · ');
  return items.length > MAX_LISTED ? `${shown} · and ${count(items.length - MAX_LISTED, 'other')}` : shown;
}

/** The redirects on one line: `301 → https://www.example.com/robots.txt 200`. */
function shortHops(hops: readonly PolicyHop[]): string {
  return hops
    .map(({ url, status }) => [printable(url), ...(status === undefined ? [] : [String(status)])].join('  '))
    .join(' → ');
}
