import { sha256Now } from '../base/index.ts';
import type { OverriddenOrigin } from '../decision/index.ts';
import type { Profile } from '../lifecycle/index.ts';
import { parseRobots } from '../rules/index.ts';
import { ROBOTS_PATH } from '../url/index.ts';
import { type OriginOverride } from './options.ts';
import { readProfile, type Settings } from './settings.ts';

/** The only scheme that needs a transport of its own. */
export const FTP = 'ftp:';

/** The settings that may differ by origin. */
export class OriginSettings {
  /** The caller's texts and verdicts, by origin. */
  readonly overrides: ReadonlyMap<string, OverriddenOrigin>;
  /** Profiles of single origins. */
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly #profile: Profile;
  readonly #takesFtp: boolean;

  constructor({ overrides, profile, ftp }: Settings) {
    const overridden = new Map<string, OverriddenOrigin>();
    this.overrides = overridden;
    const profiles = new Map<string, Profile>();
    this.profiles = profiles;
    this.#profile = profile;
    this.#takesFtp = ftp !== undefined;
    for (const [origin, override] of overrides) {
      if ('profile' in override) profiles.set(origin, readProfile(override.profile));
      else overridden.set(origin, overriddenOrigin(origin, override, profile));
    }
  }

  /** Bound, so that it can be passed on by itself. */
  readonly profileOf = (origin: string): Profile => this.profiles.get(origin) ?? this.#profile;

  /** Whether robots.txt can be fetched: `ftp:` needs a transport. */
  canAsk(origin: string): boolean {
    return this.#takesFtp || !origin.startsWith(FTP);
  }
}

function overriddenOrigin(
  origin: string,
  override: Exclude<OriginOverride, { profile: unknown }>,
  { name: profile, dialect }: Profile,
): OverriddenOrigin {
  const url = origin + ROBOTS_PATH;
  const base = { origin, profile, robots: { url, finalUrl: url, hops: 0, source: 'override' } } as const;
  if (!('text' in override)) {
    const state = override.verdict === 'allow' ? 'allow-all' : 'disallow-all';
    return { ...base, state, file: undefined, because: override.because };
  }
  const file = parseRobots(override.text, { dialect });
  const sha256 = sha256Now(file.bytes);
  const robots = sha256 === undefined ? base.robots : { ...base.robots, sha256 };
  return { ...base, robots, state: 'rules', file, because: override.because };
}
