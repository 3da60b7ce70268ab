import { omitUndefined } from '../base/index.ts';
import {
  type ConclusiveResponse,
  type Copy,
  type Failure,
  freshness,
  isAddressRefused,
  isForGood,
  JITTER_SHARE,
  type OriginRecord,
  type Profile,
  refreshAheadAt,
  stateOf,
  type Suspect,
} from '../lifecycle/index.ts';
import type { Tokens } from './agent-tokens.ts';
import type {
  OriginPolicy,
  PolicyAttempt,
  PolicyFile,
  PolicyHop,
  PolicyLifetime,
  PolicyNextAttempt,
  PolicySitemap,
} from './policy.ts';
import { requestRate, type RobotsFile, type Sitemap } from '../rules/index.ts';
import { ROBOTS_PATH } from '../url/index.ts';
import { isByCopy, type KnownOrigin, type OverriddenOrigin } from './decide.ts';
import { noFtpTransport, type RobotsSource } from './robots-source.ts';

/** The agent of a policy, and what is the same for every origin. */
export interface PolicyContext {
  /** Agents in order of preference. */
  readonly tokens: Tokens;
  readonly addressChecks: OriginPolicy['addressChecks'];
  readonly maxBodyBytes: number;
}

/** The policy of an origin from its record. */
export function describeOrigin(
  from: KnownOrigin,
  { tokens, addressChecks, maxBodyBytes }: PolicyContext,
  now: number,
  source: RobotsSource['source'],
): OriginPolicy {
  const { record, profile, file } = from;
  const { failure, site, answer } = record;
  const holds = stateOf(record, profile, now);
  const agent = file?.chooseAgent(tokens) ?? tokens[0];
  const robots = from.source(source, from.isResponseInForce(now), isByCopy(holds.state));
  return {
    origin: record.origin,
    profile: profile.name,
    state: holds.state,
    robots,
    ...omitUndefined({ sha256: robots.sha256 }),
    addressChecks,
    ...(holds.state === 'allow-all' || holds.state === 'disallow-all' ? { reason: holds.reason } : {}),
    ...omitUndefined({
      attempt: attemptOf(record),
      lifetime: answer && lifetimeOf(answer, record.copy, profile),
      nextAttempt: nextAttemptOf(record),
      suspect: suspectIn(record),
      failure,
      retryAt: isForGood(record) ? undefined : failure?.retryAt,
      site,
      file: fileOf(record, maxBodyBytes),
    }),
    ...describeFile(file, agent, record.copy?.finalUrl ?? record.origin + ROBOTS_PATH),
  };
}

/** The policy of an `ftp:` origin without a transport. */
export function describeUnaskable(
  profile: Profile,
  origin: string,
  { tokens: [agent], addressChecks }: PolicyContext,
): OriginPolicy {
  return {
    origin,
    profile: profile.name,
    state: 'disallow-all',
    reason: 'unreachable',
    robots: noFtpTransport(origin),
    addressChecks,
    ...describeFile(undefined, agent, origin + ROBOTS_PATH),
  };
}

/** The policy of an overridden origin. */
export function describeOverride(
  { origin, profile, state, robots, file, because }: OverriddenOrigin,
  { tokens, addressChecks }: PolicyContext,
): OriginPolicy {
  return {
    origin,
    profile,
    state,
    reason: 'override',
    robots,
    ...omitUndefined({ sha256: robots.sha256 }),
    addressChecks,
    ...describeFile(file, file?.chooseAgent(tokens) ?? tokens[0], origin + ROBOTS_PATH),
    ...omitUndefined({ because }),
  };
}

/**
 * The parts of a policy that come from the file: for all agents, and for `agent`.
 *
 * @param finalUrl Where the file was found.
 */
function describeFile(
  file: RobotsFile | undefined,
  agent: string,
  finalUrl: string,
): Pick<
  OriginPolicy,
  'rules' | 'groups' | 'sitemaps' | 'agent' | 'group' | 'crawlDelayMs' | 'requestRateMs'
> {
  if (file === undefined) return { groups: [], sitemaps: [], agent };
  const group = file.rulesetFor(agent).group;
  const crawlDelayMs = file.crawlDelay(agent);
  const requestRateMs = requestRate(file, agent);
  return {
    rules: file,
    groups: file.groups,
    sitemaps: file.sitemaps.map((sitemap) => resolved(sitemap, finalUrl)),
    agent,
    ...omitUndefined({ group, crawlDelayMs, requestRateMs }),
  };
}

/** sitemaps.org asks for the whole URL, and sites write relative ones. RFC 9309 §2.2.4 leaves such records to the crawler. */
function resolved({ url, line }: Sitemap, base: string): PolicySitemap {
  if (URL.canParse(url) || !URL.canParse(url, base)) return { url, line };
  return { url: new URL(url, base).href, line, written: url };
}

/** The kind of page that came instead of a robots.txt. A failure that shows no such page does not change it. */
function suspectIn({ answer, copy, failure }: OriginRecord): Suspect | undefined {
  return failure?.suspect ?? (answer?.kind === 'rules' ? copy?.suspect : answer?.suspect);
}

/** A failure is always later than the response. */
function attemptOf({ answer, failure }: OriginRecord): PolicyAttempt | undefined {
  if (failure !== undefined) {
    const { at, error } = failure;
    return { kind: 'unreachable', at, ...routeOf(failure, failure.status), error };
  }
  if (answer === undefined) return undefined;
  const { kind, fetchedAt: at, status } = answer;
  switch (kind) {
    case 'rules':
      return answer.notModified === true
        ? { kind: 'not-modified', at, ...routeOf(answer, 304) }
        : { kind: 'success', at, ...routeOf(answer, status) };
    case 'unavailable':
      return {
        kind,
        at,
        ...routeOf(answer, status),
        ...omitUndefined({ unavailable: answer.reason }),
      };
    case 'restricted':
      return { kind, at, ...routeOf(answer, status) };
  }
}

function routeOf(
  { redirects = [], headers = {}, finalUrl }: ConclusiveResponse | Failure,
  status: number | undefined,
): Pick<PolicyAttempt, 'hops' | 'headers'> {
  const { location } = headers;
  const last: PolicyHop = {
    url: finalUrl,
    ...omitUndefined({ status, location }),
  };
  return { hops: [...redirects, last], headers };
}

function lifetimeOf(
  { fetchedAt, staleAt, headers, kind }: ConclusiveResponse,
  copy: Copy | undefined,
  profile: Profile,
): PolicyLifetime {
  const why = freshness(headers ?? {}, profile, fetchedAt, kind === 'rules' ? copy?.suspect : undefined);
  const jitterMs = why.lifetimeMs - (staleAt - fetchedAt);
  // The stored header fields do not explain the lifetime: the response had others, or came under another profile.
  return jitterMs < 0 || jitterMs > JITTER_SHARE * why.lifetimeMs + 1
    ? { fetchedAt, staleAt }
    : { fetchedAt, staleAt, jitterMs, why };
}

function nextAttemptOf({ answer, failure }: OriginRecord): PolicyNextAttempt | undefined {
  if (failure !== undefined) {
    if (isAddressRefused(failure)) return undefined;
    const { retryAt: at, retryAfterMs, attempts } = failure;
    return retryAfterMs === undefined
      ? { at, why: 'backoff', failures: attempts }
      : { at, why: 'retry-after', pauseMs: retryAfterMs };
  }
  return answer === undefined ? undefined : { at: Math.ceil(refreshAheadAt(answer)), why: 'refresh-ahead' };
}

function fileOf({ copy }: OriginRecord, maxBodyBytes: number): PolicyFile | undefined {
  if (copy === undefined) return undefined;
  const { body, truncated, finalUrl, fetchedAt, contentType } = copy;
  return {
    body,
    sizeBytes: body.length,
    limitBytes: maxBodyBytes,
    truncated,
    finalUrl,
    fetchedAt,
    ...omitUndefined({ contentType }),
  };
}
