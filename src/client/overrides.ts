import type { OverriddenOrigin } from '../decision/index.ts';
import type { Profile } from '../lifecycle/index.ts';
import { parseRobots } from '../rules/index.ts';
import { ROBOTS_PATH } from '../url/index.ts';
import { type OriginOverride } from './options.ts';
import { readProfile, type Settings } from './settings.ts';

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
      else overridden.set(origin, overriddenOrigin(origin, override, profile));
    }
  }

  /** Bound: handed to those who need no more than this. */
  readonly profileOf = (origin: string): Profile => this.profiles.get(origin) ?? this.profile;

  /** Whether robots.txt can be asked for: `ftp:` needs a transport for it. */
  canAsk(origin: string): boolean {
    return this.takesFtp || !origin.startsWith(FTP);
  }
}

function overriddenOrigin(
  origin: string,
  override: Exclude<OriginOverride, { profile: unknown }>,
  { name: profile, dialect }: Profile,
): OverriddenOrigin {
  const url = origin + ROBOTS_PATH;
  const base = {
    origin,
    profile,
    robots: { url, finalUrl: url, hops: 0, source: 'override' },
    because: override.because,
  } as const;
  return 'text' in override
    ? { ...base, state: 'rules', file: parseRobots(override.text, { dialect }) }
    : { ...base, state: override.verdict === 'allow' ? 'allow-all' : 'disallow-all', file: undefined };
}
