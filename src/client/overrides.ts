import type { Profile, RobotsSource } from '../lifecycle/index.ts';
import { type Decision, describeFile, type OriginPolicy } from '../decision/index.ts';
import type { Tokens } from '../rules/agent-tokens.ts';
import { parseRobots, type RobotsFile } from '../rules/index.ts';
import { isRobotsTarget, type LocatedUrl, ROBOTS_PATH } from '../url/index.ts';
import { type OriginOverride, readProfile, type Settings } from './options.ts';

/** The only origin scheme the default transports cannot fetch. */
export const FTP = 'ftp:';

/** Of the client's settings, those that may differ from origin to origin. */
export class OriginSettings {
  /** What the caller laid down in the place of a robots.txt, by origin. */
  readonly overrides: ReadonlyMap<string, OverriddenOrigin>;
  private readonly profiles = new Map<string, Profile>();
  private readonly profile: Profile;
  private readonly takesFtp: boolean;

  constructor({ overrides, profile, ftp }: Settings) {
    const overridden = new Map<string, OverriddenOrigin>();
    this.overrides = overridden;
    this.profile = profile;
    this.takesFtp = ftp !== undefined;
    for (const [origin, override] of overrides) {
      if ('profile' in override) this.profiles.set(origin, readProfile(override.profile));
      else overridden.set(origin, new OverriddenOrigin(origin, override, profile));
    }
  }

  /** Bound: handed to those who need no more than this. */
  readonly profileOf = (origin: string): Profile => this.profiles.get(origin) ?? this.profile;

  /** Whether there is no way to ask: `ftp:` without a transport for it. */
  isUnaskable(origin: string): boolean {
    return !this.takesFtp && origin.startsWith(FTP);
  }
}

type TextOrVerdict = Exclude<OriginOverride, { profile: unknown }>;

/** An origin whose robots.txt, or whose answer, the caller lays down. Nothing is fetched for it. */
export class OverriddenOrigin {
  private readonly origin: string;
  private readonly override: TextOrVerdict;
  private readonly profile: Profile;
  private readonly robots: RobotsSource;
  /** The text laid down, read. */
  readonly file: RobotsFile | undefined;

  constructor(origin: string, override: TextOrVerdict, profile: Profile) {
    const url = origin + ROBOTS_PATH;
    this.origin = origin;
    this.override = override;
    this.profile = profile;
    this.robots = { url, finalUrl: url, hops: 0, source: 'override' };
    this.file = 'text' in override ? parseRobots(override.text, { dialect: profile.dialect }) : undefined;
  }

  decide(tokens: Tokens, located: LocatedUrl): Decision {
    const base = {
      url: located.href,
      origin: this.origin,
      agent: this.file?.chooseAgent(tokens) ?? tokens[0],
      profile: this.profile.name,
      state: this.state,
      robots: this.robots,
      ...(this.override.because === undefined ? {} : { because: this.override.because }),
    } as const;
    if (isRobotsTarget(located)) return { ...base, reason: 'robots-txt', allowed: true };
    if (this.file === undefined) {
      return {
        ...base,
        reason: 'override',
        allowed: 'verdict' in this.override && this.override.verdict === 'allow',
      };
    }
    const verdict = this.file.check(located.href.slice(located.targetStart, located.targetEnd), base.agent);
    const crawlDelayMs = this.file.crawlDelay(base.agent);
    return {
      ...base,
      reason: 'override',
      allowed: verdict.allowed,
      ...('group' in verdict ? { group: verdict.group } : {}),
      ...('rule' in verdict ? { rule: verdict.rule } : {}),
      ...(crawlDelayMs === undefined ? {} : { crawlDelayMs }),
    };
  }

  policy(tokens: Tokens): OriginPolicy {
    return {
      origin: this.origin,
      profile: this.profile.name,
      state: this.state,
      reason: 'override',
      robots: this.robots,
      ...describeFile(this.file, this.file?.chooseAgent(tokens) ?? tokens[0]),
      // Nobody was asked, so there is nothing that they could make of it.
      underProfiles: [],
      ...(this.override.because === undefined ? {} : { because: this.override.because }),
    };
  }

  private get state(): 'rules' | 'allow-all' | 'disallow-all' {
    if (this.file !== undefined) return 'rules';
    return 'verdict' in this.override && this.override.verdict === 'allow' ? 'allow-all' : 'disallow-all';
  }
}
