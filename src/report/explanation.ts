import type { Dialect, Explanation, RobotsFile } from '../rules/index.ts';
import { parseRobots } from '../rules/parse.ts';
import { profileNames, profiles } from '../lifecycle/profile.ts';
import type { OriginPolicy, ProfileState } from '../decision/index.ts';
import type { Ruling } from './ruling.ts';

/** A decision, and everything it rests on. */
export interface UrlExplanation {
  readonly ruling: Ruling;
  /** The rule that came closest, and why it lost. */
  readonly runnerUp?: Explanation['runnerUp'];
  /** The file whose rules were held against the URL. */
  readonly file?: RobotsFile;
  /** What is known of the origin; absent when a file was given instead of one. */
  readonly policy?: OriginPolicy;
  /** What other profiles would make of the same file, answers and failures. */
  readonly underProfiles: readonly ProfileRuling[];
}

/** What a profile would say to the URL. `allowed` is absent when nobody can tell. */
export type ProfileRuling = ProfileState & {
  readonly allowed?: boolean;
  /** Of the rule that would decide. */
  readonly line?: number;
};

/** Puts an explanation of a served robots.txt together. */
export function explainServed(ruling: Ruling, policy: OriginPolicy): UrlExplanation {
  const { rules, file } = policy;
  const held = ruling.state === 'rules' || ruling.state === 'last-good' ? rules : undefined;
  const others = policy.underProfiles.filter(({ profile }) => profile !== policy.profile);
  return {
    ruling,
    ...runnerUpOf(ruling, held),
    ...(held === undefined ? {} : { file: held }),
    policy,
    underProfiles: others.map((stateUnderProfile) => rulingUnder(stateUnderProfile, ruling, file?.body)),
  };
}

/** Puts an explanation of a file on a disk together: every profile would have its rules. */
export function explainFile(ruling: Ruling, file: RobotsFile, body: Uint8Array): UrlExplanation {
  const others = profileNames.filter((profile) => profile !== ruling.profile);
  return {
    ruling,
    file,
    ...runnerUpOf(ruling, file),
    underProfiles: others.map((profile) => rulingUnder({ profile, state: 'rules' }, ruling, body)),
  };
}

function runnerUpOf(
  { url, agent, reason }: Ruling,
  file: RobotsFile | undefined,
): Pick<UrlExplanation, 'runnerUp'> {
  const runnerUp = reason === 'rule' ? file?.explain(url, agent).runnerUp : undefined;
  return runnerUp === undefined ? {} : { runnerUp };
}

function rulingUnder(
  stateUnderProfile: ProfileState,
  { url, agent, reason }: Ruling,
  body: Uint8Array | undefined,
): ProfileRuling {
  if (reason === 'robots-txt') return { ...stateUnderProfile, allowed: true };
  switch (stateUnderProfile.state) {
    case 'allow-all':
      return { ...stateUnderProfile, allowed: true };
    case 'disallow-all':
      return { ...stateUnderProfile, allowed: false };
    case 'unknown':
      return stateUnderProfile;
    case 'rules':
    case 'last-good': {
      if (body === undefined) return stateUnderProfile;
      const verdict = reading(body, profiles[stateUnderProfile.profile].dialect).check(url, agent);
      const line = 'rule' in verdict ? { line: verdict.rule.line } : {};
      return { ...stateUnderProfile, allowed: verdict.allowed, ...line };
    }
  }
}

function reading(body: Uint8Array, dialect: Dialect): RobotsFile {
  return parseRobots(body, { dialect });
}
