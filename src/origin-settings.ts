import type { Profile } from './lifecycle/index.ts';
import { readProfile, type Settings } from './client/options.ts';
import { OverriddenOrigin } from './client/overrides.ts';

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
