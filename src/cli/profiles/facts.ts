import { meaningOfStatus, type Profile, type UnreachablePhase } from '../../lifecycle/index.ts';
import type { DialectTraits } from '../../rules/dialect.ts';
import { duration } from '../../report/text/index.ts';

/** Labelled facts. Every profile has the same labels, so that a table can show profiles side by side. */
export type Facts = readonly (readonly [label: string, text: string])[];

/** The meaning of each response for robots.txt under a profile, and its duration. */
export function profileFacts(profile: Profile): Facts {
  const { lifetime, backoff, retryAfter } = profile;
  return [
    ['200', meaning(200, profile)],
    ['401, 403', both(401, 403, profile)],
    ['404, 410', both(404, 410, profile)],
    ['429', meaning(429, profile)],
    ['5xx, network failure', meaning(503, profile)],
    ['other statuses', meaning(600, profile)],
    ['redirects followed', String(profile.maxRedirects)],
    ['one redirect more', profile.tooManyRedirects],
    ['a disallowed redirect', profile.disallowedRedirect],
    ['a challenge page', profile.challenge === 'as-status' ? 'by its status' : 'unreachable'],
    ['lifetime by default', duration(lifetime.defaultMs)],
    ['least, most', `${duration(lifetime.minMs)}, ${duration(lifetime.maxMs)}`],
    ['revalidates the copy', yesOrNo(profile.conditionalRequests)],
    [
      'copy used after a 4xx',
      profile.keepCopyOnUnavailableMs === 0 ? 'no' : duration(profile.keepCopyOnUnavailableMs),
    ],
    ['pause after a failure', `${duration(backoff.initialMs)} to ${duration(backoff.maxMs)}`],
    ['Retry-After', `${duration(retryAfter.minMs)} to ${duration(retryAfter.maxMs)}`],
  ];
}

/** The rules by which a dialect parses and matches the file. */
export function readingFacts(traits: DialectTraits): Facts {
  return [
    ['deciding rule', traits.decides === 'longest' ? 'longest' : 'first'],
    ['Allow', yesOrNo(traits.allowIsAKey)],
    ['* and $', traits.wildcards ? 'wildcard, end' : 'literal'],
    ['compared with', traits.targetHasQuery ? 'path, query' : 'path'],
    ['a group ends', traits.blankLineEndsRecord ? 'at a blank line' : 'at the next one'],
    ['agent names', traits.agentMatch === 'whole' ? 'match exactly' : 'match as substring'],
    ['misspelt keys', traits.lenient ? 'forgiven' : 'unknown'],
  ];
}

/** Describes the phases of an outage, from the first failure. */
export function phaseFacts({ whileUnreachable }: Profile): string[] {
  return whileUnreachable.map((phase, index) => {
    const when =
      phase.untilMs === null
        ? index === 0
          ? 'without end'
          : 'after that'
        : `until ${duration(phase.untilMs)}`;
    return `${when}: ${treatment(phase)}`;
  });
}

function treatment({ withCopy, withoutCopy, whenSiteReachable }: UnreachablePhase): string {
  const usual = withCopy === withoutCopy ? withCopy : `${withCopy}, without a copy ${withoutCopy}`;
  return whenSiteReachable === undefined
    ? usual
    : `${usual}, if the site answers otherwise ${whenSiteReachable}`;
}

const meanings = {
  rules: 'its rules',
  unavailable: 'allow-all',
  restricted: 'disallow-all',
  unreachable: 'unreachable',
} as const;

function meaning(status: number, profile: Profile): string {
  return meanings[meaningOfStatus(status, profile)];
}

function both(one: number, other: number, profile: Profile): string {
  const [first, second] = [meaning(one, profile), meaning(other, profile)];
  return first === second ? first : `${first}, ${second}`;
}

function yesOrNo(yes: boolean): string {
  return yes ? 'yes' : 'no';
}
