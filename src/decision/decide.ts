import { type Profile, type RobotsSource, type Standing, standing } from '../lifecycle/index.ts';
import type { Tokens } from '../rules/agent-tokens.ts';
import type { CacheEntry } from '../cache/index.ts';
import { type Decision, decideByRules, decideByStanding } from './decision.ts';
import { type LocatedUrl, ROBOTS_PATH } from '../url/index.ts';
import type { RobotsFile } from '../rules/index.ts';

/** The decision of an entry whose rules hold, with nothing due: nearly every question, so nothing is done twice. */
export function decideQuietly(
  entry: CacheEntry,
  file: RobotsFile,
  tokens: Tokens,
  located: LocatedUrl,
): Decision {
  const agent = tokens.length === 1 ? tokens[0] : file.chooseAgent(tokens);
  const program = file.programFor(agent);
  const number = file.decideUrl(program, located);
  return decideByRules(
    located,
    agent,
    entry.profile.name,
    'rules',
    entry.source('memory', true),
    program.group ?? file.groupOf(program, agent),
    number < 0 ? undefined : file.ruleOf(program, number),
    program.crawlDelayMs,
  );
}

/** The decision of an entry about one URL. `now` turns the phases of an outage. */
export function decideFromEntry(
  entry: CacheEntry,
  tokens: Tokens,
  located: LocatedUrl,
  now: number,
  source: RobotsSource['source'],
): Decision {
  const { file } = entry;
  const quiet = entry.isQuietAt(now);
  const holds = quiet ? RULES_IN_FORCE : standing(entry.record, entry.profile, now);
  const agent = tokens.length === 1 || file === undefined ? tokens[0] : file.chooseAgent(tokens);
  const profile = entry.profile.name;
  const robots = entry.source(source, quiet || answerHolds(entry, now));
  if ((holds.state === 'rules' || holds.state === 'last-good') && file !== undefined) {
    const program = file.programFor(agent);
    const number = file.decideUrl(program, located);
    const group = file.groupOf(program, agent);
    const rule = number < 0 ? undefined : file.ruleOf(program, number);
    return decideByRules(located, agent, profile, holds.state, robots, group, rule, program.crawlDelayMs);
  }
  return decideByStanding(located, agent, profile, withoutRules(holds, now), robots);
}

const RULES_IN_FORCE = { state: 'rules' } as const;

/** `/robots.txt` itself may always be fetched; nothing needs to be known for that. */
export function robotsTxtDecision(
  entry: CacheEntry | undefined,
  profile: Profile,
  tokens: Tokens,
  located: LocatedUrl,
  now: number,
): Decision {
  return {
    url: located.href,
    origin: located.origin,
    agent: tokens[0],
    profile: profile.name,
    state: standing(entry?.record, profile, now).state,
    robots: entry?.source('memory', answerHolds(entry, now)) ?? unasked(located.origin),
    reason: 'robots-txt',
    allowed: true,
  };
}

/** `ftp:` without a transport for it: nothing can be asked, now or later, so nothing is allowed. */
export function unaskableDecision(profile: Profile, tokens: Tokens, located: LocatedUrl): Decision {
  const robots = { ...unasked(located.origin), error: 'ERR_ROBOTS_NO_FTP_TRANSPORT' };
  return {
    url: located.href,
    origin: located.origin,
    agent: tokens[0],
    profile: profile.name,
    state: 'disallow-all',
    robots,
    reason: 'unreachable',
    allowed: false,
  };
}

/**
 * What holds where no rules do. A standing that knows nothing (the answer went stale between its arrival and
 * this moment, by a clock that jumped) is no permission: the next question asks again.
 */
function withoutRules(
  holds: Standing | typeof RULES_IN_FORCE,
  now: number,
): Parameters<typeof decideByStanding>[3] {
  if (holds.state === 'allow-all' || holds.state === 'disallow-all') return holds;
  return { state: 'disallow-all', reason: 'unreachable', retryAt: now };
}

/** Whether the answer is still in force at `now`, whatever failed since. */
export function answerHolds({ record: { answer } }: CacheEntry, now: number): boolean {
  return answer !== undefined && now >= answer.fetchedAt && now < answer.staleAt;
}

/** Where robots.txt would be, when nobody asked for it. */
export const unasked = (origin: string): RobotsSource => ({
  url: origin + ROBOTS_PATH,
  finalUrl: origin + ROBOTS_PATH,
  hops: 0,
  source: 'memory',
});
