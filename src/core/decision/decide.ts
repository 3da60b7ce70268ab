/**
 * Makes every decision, from one of three sources: the record of an origin, the caller's override, or neither, when
 * the origin cannot be asked or has not been asked yet.
 */
import { omitUndefined, sha256Now } from '../base/index.ts';
import {
  type KnownState,
  type OriginRecord,
  type Profile,
  refreshAheadAt,
  stateOf,
} from '../lifecycle/index.ts';
import type { Tokens } from './agent-tokens.ts';
import { parseRobots, type RobotsFile } from '../rules/index.ts';
import { isRobotsTarget, type LocatedUrl } from '../url/index.ts';
import type { Decision } from './decision.ts';
import { neverFetched, noFtpTransport, overridden, type RobotsSource, sourceOf } from './robots-source.ts';

/** An origin for which the caller gave a robots.txt or a verdict. Nothing is fetched for it. */
export type OverriddenOrigin = {
  readonly origin: string;
  /** Name of the profile in whose dialect `file` is read. */
  readonly profile: string;
  readonly robots: RobotsSource;
} & (
  | {
      readonly state: 'rules';
      /** The caller's text, parsed. */
      readonly file: RobotsFile;
      readonly because: string | undefined;
    }
  | {
      readonly state: 'allow-all' | 'disallow-all';
      readonly file: undefined;
      readonly because: string;
    }
);

/** An origin with the caller's text, which is read in the dialect of `profile`, or with the caller's verdict. */
export function overriddenOrigin(
  origin: string,
  { name: profile, dialect }: Pick<Profile, 'name' | 'dialect'>,
  given:
    | { readonly text: string | Uint8Array; readonly because?: string | undefined }
    | { readonly verdict: 'allow' | 'disallow'; readonly because: string },
): OverriddenOrigin {
  const { because } = given;
  if ('verdict' in given) {
    const state = given.verdict === 'allow' ? 'allow-all' : 'disallow-all';
    return { origin, profile, robots: overridden(origin), state, file: undefined, because: given.because };
  }
  const file = parseRobots(given.text, { dialect });
  const robots = overridden(origin, sha256Now(file.bytes));
  return { origin, profile, robots, state: 'rules', file, because };
}

/**
 * Whether the rules of an origin allow the URL: {@link decide} without the reasons, and without an allocation. Call it
 * only while the rules are in force.
 *
 * @returns `undefined` when there are no rules.
 */
export function permits(from: KnownOrigin, tokens: Tokens, located: LocatedUrl): boolean | undefined {
  const { file } = from;
  if (file === undefined) return undefined;
  const ruleset = file.rulesetFor(tokens.length === 1 ? tokens[0] : file.chooseAgent(tokens));
  const rule = file.decideUrl(ruleset, located);
  return rule < 0 || ruleset.isAllow(rule);
}

/**
 * The decision from the record of an origin.
 *
 * Decisions by rules are literals: intermediate objects would cost more than everything else in a warm question.
 *
 * @param now Epoch milliseconds. The phases of an outage depend on it.
 * @param source Where the record came from for this question.
 */
export function decide(
  from: KnownOrigin,
  tokens: Tokens,
  located: LocatedUrl,
  now: number,
  source: RobotsSource['source'],
): Decision {
  const { file, profile } = from;
  if (isRobotsTarget(located)) return robotsTxtDecision(from, profile, tokens, located, now);
  const isFresh = from.isFreshAndNotDue(now);
  const known = isFresh ? RULES_IN_FORCE : stateOf(from.record, profile, now);
  const agent = tokens.length === 1 || file === undefined ? tokens[0] : file.chooseAgent(tokens);
  const robots = from.source(source, isFresh || from.isResponseInForce(now), isByCopy(known.state));
  if ((known.state !== 'rules' && known.state !== 'last-good') || file === undefined) {
    return decideWithoutRules(known, agent, profile.name, located, now, robots);
  }
  const { state } = known;
  const { name } = profile;
  const { href: url, origin } = located;
  const ruleset = file.rulesetFor(agent);
  const number = file.decideUrl(ruleset, located);
  const { group } = ruleset;
  if (group === undefined)
    return { url, origin, agent, profile: name, state, allowed: true, reason: 'no-group', robots };
  const rule = number < 0 ? undefined : file.ruleOf(ruleset, number, located);
  const allowed = rule?.directive !== 'disallow';
  const decision: Decision & { crawlDelayMs?: number } =
    rule === undefined
      ? { url, origin, agent, profile: name, state, allowed: true, reason: 'no-rule', group, robots }
      : { url, origin, agent, profile: name, state, allowed, reason: 'rule', rule, group, robots };
  if (ruleset.crawlDelayMs >= 0) decision.crawlDelayMs = ruleset.crawlDelayMs;
  return decision;
}

/** The decision from the caller's override. */
export function decideByOverride(override: OverriddenOrigin, tokens: Tokens, located: LocatedUrl): Decision {
  const { file, profile, state, robots, because } = override;
  const agent = file?.chooseAgent(tokens) ?? tokens[0];
  const base = { url: located.href, origin: located.origin, agent, profile, robots };
  const reasoned = omitUndefined({ because });
  if (isRobotsTarget(located)) return { ...base, ...reasoned, state, reason: 'robots-txt', allowed: true };
  if (override.state !== 'rules') {
    const allowed = override.state === 'allow-all';
    return { ...base, state: override.state, reason: 'override', allowed, because: override.because };
  }
  const verdict = override.file.check(located.href.slice(located.targetStart, located.targetEnd), agent);
  const crawlDelayMs = override.file.crawlDelay(agent);
  return {
    ...base,
    ...reasoned,
    state: override.state,
    reason: 'override',
    allowed: verdict.allowed,
    ...omitUndefined({ group: verdict.group, rule: verdict.rule, crawlDelayMs }),
  };
}

/**
 * The decision without a record.
 *
 * @param canAsk Whether the origin can be fetched. An `ftp:` origin cannot without a transport for it, so nothing of
 * it is allowed.
 * @returns `undefined` when the origin has to be fetched first.
 */
export function decideUnknown(
  profile: Profile,
  canAsk: boolean,
  tokens: Tokens,
  located: LocatedUrl,
  now: number,
): Decision | undefined {
  if (isRobotsTarget(located)) return robotsTxtDecision(undefined, profile, tokens, located, now);
  if (canAsk) return undefined;
  return {
    url: located.href,
    origin: located.origin,
    agent: tokens[0],
    profile: profile.name,
    state: 'disallow-all',
    robots: noFtpTransport(located.origin),
    reason: 'unreachable',
    allowed: false,
    retryAt: now + profile.lifetime.defaultMs,
  };
}

/** `/robots.txt` itself may always be fetched, so the decision needs no record. */
function robotsTxtDecision(
  from: KnownOrigin | undefined,
  profile: Profile,
  tokens: Tokens,
  located: LocatedUrl,
  now: number,
): Decision {
  const { state } = stateOf(from?.record, profile, now);
  return {
    url: located.href,
    origin: located.origin,
    agent: tokens[0],
    profile: profile.name,
    state,
    robots:
      from?.source('memory', from.isResponseInForce(now), isByCopy(state)) ?? neverFetched(located.origin),
    reason: 'robots-txt',
    allowed: true,
  };
}

/** Whether the rules of the copy decide in this state. */
export function isByCopy(state: KnownState['state']): boolean {
  return state === 'rules' || state === 'last-good';
}

const RULES_IN_FORCE = { state: 'rules' } as const;

/**
 * The decision in a state without rules. `unknown` means that the response went stale between its arrival and now, by a
 * jump of the clock. It is no permission: the next question fetches again.
 */
function decideWithoutRules(
  known: KnownState | typeof RULES_IN_FORCE,
  agent: string,
  profile: string,
  { href: url, origin }: LocatedUrl,
  now: number,
  robots: RobotsSource,
): Decision {
  const base = { url, origin, agent, profile, robots };
  if (known.state === 'allow-all') {
    return { ...base, state: 'allow-all', allowed: true, reason: known.reason };
  }
  const disallowed = { ...base, state: 'disallow-all', allowed: false } as const;
  if (known.state !== 'disallow-all') return { ...disallowed, reason: 'unreachable', retryAt: now };
  return known.reason === 'restricted'
    ? { ...disallowed, reason: 'restricted' }
    : { ...disallowed, reason: 'unreachable', ...omitUndefined({ retryAt: known.retryAt }) };
}

/** The record of an origin, with data derived from it once, for decisions. A new record makes a new object. */
export class KnownOrigin {
  readonly record: OriginRecord;
  readonly profile: Profile;
  #parsed: RobotsFile | undefined;
  #fromMemory: RobotsSource | undefined;
  #answerHeld = false;
  #copyHeld = false;
  /** Start and end of the time in which fresh rules are in force and no refresh is due. */
  readonly #freshFrom: number;
  readonly #freshUntil: number;

  /** @param previous The state before the record changed. Its parsed file is kept if the body is the same. */
  constructor(record: OriginRecord, profile: Profile, previous?: KnownOrigin) {
    this.record = record;
    this.profile = profile;
    const { answer } = record;
    const isFresh = answer?.kind === 'rules' && record.copy !== undefined && record.failure === undefined;
    this.#freshFrom = isFresh ? answer.fetchedAt : 0;
    this.#freshUntil = isFresh ? refreshAheadAt(answer) : 0;
    // A 304, or a failure beside a good copy, does not change the file, so its compiled rules are kept.
    if (
      previous !== undefined &&
      previous.record.copy?.body === record.copy?.body &&
      previous.profile === profile
    ) {
      this.#parsed = previous.#parsed;
    }
  }

  /** The file of the good copy, parsed on first use. */
  get file(): RobotsFile | undefined {
    return this.#parsed ?? this.#parse();
  }

  /** {@link file} if it was parsed before. */
  get parsed(): RobotsFile | undefined {
    return this.#parsed;
  }

  /** Whether fresh rules are in force at `now` and no refresh is due. This is the usual case, and implies a file. */
  isFreshAndNotDue(now: number): boolean {
    return now < this.#freshUntil && now >= this.#freshFrom;
  }

  /** Whether the latest response is in force at `now`, regardless of later failures. */
  isResponseInForce(now: number): boolean {
    const { answer } = this.record;
    return answer !== undefined && now >= answer.fetchedAt && now < answer.staleAt;
  }

  /**
   * The source of decisions: the response, or, after its lifetime, the failure that followed it. From memory, all
   * decisions share one object until it changes with time.
   *
   * @param isByCopy Whether the rules of the copy decide.
   */
  source(source: RobotsSource['source'], isResponseInForce: boolean, isByCopy: boolean): RobotsSource {
    if (source !== 'memory') return sourceOf(this.record, source, isResponseInForce, isByCopy);
    const held = this.#fromMemory;
    if (held !== undefined && this.#answerHeld === isResponseInForce && this.#copyHeld === isByCopy)
      return held;
    this.#answerHeld = isResponseInForce;
    this.#copyHeld = isByCopy;
    return (this.#fromMemory = sourceOf(this.record, source, isResponseInForce, isByCopy));
  }

  #parse(): RobotsFile | undefined {
    const { copy } = this.record;
    if (copy === undefined) return undefined;
    return (this.#parsed = parseRobots(copy.body, { dialect: this.profile.dialect }));
  }
}
