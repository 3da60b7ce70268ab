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
  readonly #profiles = new Map<string, Profile>();
  readonly #profile: Profile;
  readonly #takesFtp: boolean;

  constructor({ overrides, profile, ftp }: Settings) {
    const overridden = new Map<string, OverriddenOrigin>();
    this.overrides = overridden;
    this.#profile = profile;
    this.#takesFtp = ftp !== undefined;
    for (const [origin, override] of overrides) {
      if ('profile' in override) this.#profiles.set(origin, readProfile(override.profile));
      else overridden.set(origin, overriddenOrigin(origin, override, profile));
    }
  }

  /** Bound, so that it can be passed on by itself. */
  readonly profileOf = (origin: string): Profile => this.#profiles.get(origin) ?? this.#profile;

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
  return 'text' in override
    ? { ...base, state: 'rules', file: parseRobots(override.text, { dialect }), because: override.because }
    : {
        ...base,
        state: override.verdict === 'allow' ? 'allow-all' : 'disallow-all',
        file: undefined,
        because: override.because,
      };
}
