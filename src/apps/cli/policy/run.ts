import { omitUndefined, jsonLine, printable, quoted } from '../../../core/base/index.ts';
import type {
  OriginPacing,
  OriginPolicy,
  Pause,
  PolicyAttempt,
  PolicyHop,
  ProfileState,
} from '../../../core/decision/index.ts';
import {
  agentSentence,
  delaySentence,
  lifetimeReason,
  looksSentence,
  nextAttemptReason,
} from '../../answers/text/sentences.ts';
import {
  ago,
  ahead,
  count,
  definitions,
  type Field,
  instant,
  type Palette,
} from '../../answers/text/layout.ts';
import { cause, whySentence } from '../../answers/text/reasons.ts';
import { policyRecord } from '../../answers/text/json.ts';
import { writeWhole } from '../../answers/text/output.ts';
import { readOrigin } from '../../answers/input/load-robots.ts';
import type { Session } from '../../answers/session.ts';
import { type ResultExitCode, type ExitCode, exitCode, type ParsedArguments } from '../frame/command.ts';
import { openClient } from '../frame/open-client.ts';
import type { PolicyLine } from '../../answers/schema.ts';
import {
  agentOf,
  type Layout,
  layoutOf,
  onlineSettings,
  onlyOperand,
  readFormat,
} from '../frame/settings.ts';
import { RESPONSE_FIELDS, type RobotsResponseHeaders } from '../../../core/lifecycle/index.ts';

/** Fetches the robots.txt of an origin, and prints the resulting policy. */
export async function showPolicy(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const origin = readOrigin(onlyOperand(given, 'an origin'));
  const settings = onlineSettings(given);
  const { signal } = session;
  await using opened = await openClient(settings, session);
  const { client } = opened;
  const policy = await client.policy(origin, { signal, ...omitUndefined({ agent: agentOf(settings) }) });
  await writeWhole(
    session.stdout,
    readFormat(given) === 'json'
      ? jsonLine<PolicyLine>(policyRecord(policy))
      : renderPolicy(policy, { ...layoutOf(given, session), verbose: given.switches.has('verbose') }),
  );
  return codeOf(policy);
}

/** The exit code of a policy. A long outage that the profile treats as final is not `undecided`. */
export function codeOf({ reason }: Pick<OriginPolicy, 'reason'>): ResultExitCode {
  return reason === 'unreachable' ? exitCode.undecided : exitCode.success;
}

export interface PolicyLayout extends Layout {
  /** Whether to show every request and response with its header fields. */
  readonly verbose: boolean;
}

/** Renders a policy as text. */
function renderPolicy(policy: OriginPolicy, { colours, now, width, verbose }: PolicyLayout): string {
  const { attempt, profile, origin } = policy;
  const fields = [...attemptFields(policy, now), ...fileFields(policy, now)];
  const others = policy.underProfiles
    .filter((each) => each.profile !== profile)
    .map((each): Field => [each.profile, stateSentence(each)]);
  return `${[
    `${stateMark(policy, colours)}  ${printable(origin)}  ${colours.faint(`profile ${printable(profile)}`)}`,
    ...definitions(fields, width, colours.faint),
    ...(verbose && attempt !== undefined ? ['', ...verboseHops(attempt).map((line) => `  ${line}`)] : []),
    ...otherProfiles(others, { colours, width }),
  ].join('\n')}\n`;
}

function stateMark({ state, reason }: OriginPolicy, colours: Palette): string {
  const text = state.toUpperCase();
  if (reason === 'unreachable' || state === 'last-good') return colours.unsure(text);
  return state === 'disallow-all' ? colours.bad(text) : colours.good(text);
}

/** Fields on the outcome of the last attempt and its lifetime. */
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

function fileFields(policy: OriginPolicy, now: number): Field[] {
  const { file, rules, agent, group, crawlDelayMs, requestRateMs, sitemaps } = policy;
  if (rules === undefined) return [['agent', printable(agent)]];
  return [
    ['file', file && sizeSentence(file)],
    [
      'copy',
      file && policy.state === 'last-good' ? `the last good one, ${ago(file.fetchedAt, now)}` : undefined,
    ],
    ['agent', agentSentence(agent, group, true)],
    ['delay', delaySentence(crawlDelayMs)],
    [
      'rate',
      requestRateMs === undefined
        ? undefined
        : `Request-rate: ${requestRateMs / 1_000} s from one request to the next (canfetch check does not wait; guards with \`pacing\` do)`,
    ],
    ['groups', groupList(policy)],
    ['sitemaps', shortList(sitemaps.map(({ url }) => printable(url)))],
  ];
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
  fields: readonly Field[],
  { colours, width }: Omit<PolicyLayout, 'now' | 'verbose'>,
): string[] {
  const [first] = fields;
  if (first === undefined) return [];
  const agreed = fields.every(([, text]) => text === first[1]);
  const shown = agreed ? [['all', first[1]] as const] : fields;
  return ['', '  Under other profiles:', ...definitions(shown, width, colours.faint)];
}

export function stateSentence(known: ProfileState): string {
  if (known.state !== 'unknown') {
    return 'reason' in known ? `${known.state}, ${known.reason}` : known.state;
  }
  return known.reason === 'stale'
    ? 'would fetch again: the response is stale'
    : 'unknown: it would have followed a redirect that this profile did not';
}

/** Renders requests and responses in the format of `curl -v`. */
export function verboseHops({ hops, headers, error }: PolicyAttempt): string[] {
  return hops.flatMap((hop, index) => {
    const isLast = index === hops.length - 1;
    return [
      `> GET ${printable(hop.url)}`,
      ...(hop.status === undefined ? [] : [`< ${hop.status}`]),
      ...(hop.location === undefined ? [] : [`< location: ${printable(hop.location)}`]),
      ...(isLast ? fieldLines(headers) : []),
      ...(isLast && error !== undefined && error !== 'ERR_ROBOTS_STATUS' ? [`* ${printable(error)}`] : []),
    ];
  });
}

/** Renders the redirects on one line: `301 → https://www.example.com/robots.txt 200`. */
function shortHops(hops: readonly PolicyHop[]): string {
  return hops
    .map(({ url, status }) => [printable(url), ...(status === undefined ? [] : [String(status)])].join('  '))
    .join(' → ');
}

function fieldLines(headers: RobotsResponseHeaders): string[] {
  return RESPONSE_FIELDS.flatMap(([key, name]) => {
    const value = headers[key];
    return value === undefined ? [] : [`< ${name}: ${printable(value)}`];
  });
}
