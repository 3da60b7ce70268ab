import type { OriginPolicy, ProfileState } from '../../decision/index.ts';
import {
  agentSentence,
  ago,
  ahead,
  cause,
  count,
  definitions,
  delaySentence,
  instant,
  lifetimeReason,
  looksSentence,
  nextAttemptReason,
  type Palette,
  printable,
  quoted,
  whySentence,
} from '../../report/text/index.ts';
import type { Row } from '../check/render.ts';
import { shortHops, verboseHops } from './hops.ts';

export interface PolicyView {
  readonly colours: Palette;
  readonly now: number;
  readonly width: number | undefined;
  /** Whether to show every request and response with its header fields. */
  readonly verbose: boolean;
}

/** Renders a policy for people. */
export function renderPolicy(policy: OriginPolicy, { colours, now, width, verbose }: PolicyView): string {
  const { attempt, profile, origin } = policy;
  const rows = [...answerRows(policy, now), ...fileRows(policy, now)];
  const others = policy.underProfiles
    .filter((each) => each.profile !== profile)
    .map((each): Row => [each.profile, stateSentence(each)]);
  return `${[
    `${stateMark(policy, colours)}  ${printable(origin)}  ${colours.faint(`profile ${printable(profile)}`)}`,
    ...definitions(rows, width, colours.faint),
    ...(verbose && attempt !== undefined ? ['', ...verboseHops(attempt).map((line) => `  ${line}`)] : []),
    ...otherProfiles(others, { colours, width }),
  ].join('\n')}\n`;
}

function stateMark({ state, reason }: OriginPolicy, colours: Palette): string {
  const text = state.toUpperCase();
  if (reason === 'unreachable' || state === 'last-good') return colours.unsure(text);
  return state === 'disallow-all' ? colours.bad(text) : colours.good(text);
}

/** Rows on the outcome of the last attempt and its lifetime. */
export function answerRows(policy: OriginPolicy, now: number): Row[] {
  const { attempt, robots, lifetime, nextAttempt, failure, site, suspect } = policy;
  const why = whySentence(policy);
  const because = lifetime === undefined ? undefined : lifetimeReason(lifetime);
  return [
    ...row('why', why),
    ['robots', attempt === undefined ? printable(robots.url) : shortHops(attempt.hops)],
    ...row('looks', suspect && looksSentence(suspect)),
    ...row('fetched', lifetime && `${ago(lifetime.fetchedAt, now)} (${instant(lifetime.fetchedAt)})`),
    ...row('fresh', lifetime && freshness(lifetime.staleAt, now)),
    ...row('because', because),
    ...row(
      'failed',
      failure &&
        `${count(failure.attempts, 'time')} in a row since ${instant(failure.since)}, at last ${ago(failure.at, now)} (${cause(robots)})`,
    ),
    ...row('next', nextAttempt && nextAttemptReason(nextAttempt, now)),
    ...row('site', site && `${site.reachable ? 'reachable' : 'not reachable'} ${ago(site.at, now)}`),
  ];
}

function freshness(staleAt: number, now: number): string {
  return staleAt <= now ? `no more (since ${instant(staleAt)})` : `until it ends ${ahead(staleAt, now)}`;
}

function fileRows(policy: OriginPolicy, now: number): Row[] {
  const { file, rules, agent, group, crawlDelayMs, requestRateMs, sitemaps } = policy;
  if (rules === undefined) return [['agent', printable(agent)]];
  return [
    ...row('file', file && sizeSentence(file)),
    ...row(
      'copy',
      file && policy.state === 'last-good' ? `the last good one, ${ago(file.fetchedAt, now)}` : undefined,
    ),
    ['agent', agentSentence(agent, group, true)],
    ...row('delay', crawlDelayMs === undefined ? undefined : delaySentence(crawlDelayMs)),
    ...row(
      'rate',
      requestRateMs === undefined
        ? undefined
        : `Request-rate: ${requestRateMs / 1_000} s from one request to the next (reported, not enforced)`,
    ),
    ['groups', groupList(policy)],
    ['sitemaps', shortList(sitemaps.map(({ url }) => printable(url)))],
  ];
}

/** Describes the size and type of a file: `214 octets of the 512,000 that are read (0.04 %), text/plain`. */
export function sizeSentence({
  sizeBytes,
  limitBytes,
  truncated,
  contentType,
}: NonNullable<OriginPolicy['file']>): string {
  const share = (100 * sizeBytes) / limitBytes;
  const percent = share >= 1 || sizeBytes === 0 ? Math.round(share) : share.toPrecision(1);
  const size = truncated
    ? `goes on past the ${limitBytes.toLocaleString('en')} octets that are read; the rest is ignored`
    : `${count(sizeBytes, 'octet')} of the ${limitBytes.toLocaleString('en')} that are read (${percent} %)`;
  return contentType === undefined ? size : `${size}, ${printable(contentType)}`;
}

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

const MAX_LISTED = 10;

function shortList(items: readonly string[]): string {
  if (items.length === 0) return 'none';
  const shown = items.slice(0, MAX_LISTED).join(' · ');
  return items.length > MAX_LISTED ? `${shown} · and ${count(items.length - MAX_LISTED, 'other')}` : shown;
}

/** Describes the results under other profiles: a line for each, or one line when all agree. */
export function otherProfiles(
  rows: readonly Row[],
  { colours, width }: Omit<PolicyView, 'now' | 'verbose'>,
): string[] {
  const [first] = rows;
  if (first === undefined) return [];
  const agreed = rows.every(([, text]) => text === first[1]);
  const shown = agreed ? [['all', first[1]] as const] : rows;
  return ['', '  What other profiles would say:', ...definitions(shown, width, colours.faint)];
}

export function stateSentence(known: ProfileState): string {
  if (known.state !== 'unknown') {
    return 'reason' in known ? `${known.state}, ${known.reason}` : known.state;
  }
  return known.reason === 'stale'
    ? 'would ask again: the answer has had its time'
    : 'unknown: it would have gone on where this one stopped';
}

function row(label: string, text: string | undefined): Row[] {
  return text === undefined ? [] : [[label, text]];
}
