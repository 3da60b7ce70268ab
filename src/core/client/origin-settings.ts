/** The settings that may differ by origin. */
import {
  type Check,
  type Clock,
  fields,
  isText,
  milliseconds,
  nonEmptyText,
  oneOf,
  optional,
  predicate,
  quote,
  record,
  RobotsInvalidOptionsError,
  textMatching,
} from '../base/index.ts';
import { type OverriddenOrigin, overriddenOrigin, profileOrName } from '../decision/index.ts';
import type { Transport } from '../fetch/transport.ts';
import { type Profile, type ProfileName, profiles } from '../lifecycle/index.ts';
import { originOf } from '../url/index.ts';
import type { OriginOverride, RobotsClientOptions } from './options.ts';

/** By the key that identifies the kind, so that the message is about the intended one. */
const overrideKinds: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  text: {
    text: predicate('the text of a robots.txt', isText),
    because: optional(nonEmptyText('the reason, as text')),
  },
  verdict: { verdict: oneOf(['allow', 'disallow']), because: nonEmptyText('the reason, as text') },
  profile: { profile: profileOrName },
};

const overrideCheck: Check = (value, path) => {
  const kind = Object.keys(overrideKinds).find((key) => key in Object(value)) ?? '';
  const known = overrideKinds[kind];
  const check =
    known === undefined
      ? predicate('an object with `text`, with `verdict` and `because`, or with `profile`', () => false)
      : fields({ ...known, until: optional(milliseconds) });
  check(value, path);
};

export const overridesCheck: Check = record(predicate('an object by origin', isText), overrideCheck);

/** RFC 9110 §5.1: field-name = token. */
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** RFC 9110 §5.5: visible ASCII, SP, HTAB and bytes above 0x7F. */
export const FIELD_VALUE: RegExp = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** The check of what `headersForRobots` returns. */
const headerFieldsCheck: Check = record(
  textMatching('an object whose keys are names of header fields', FIELD_NAME),
  // A value may be a credential, so the message does not contain it.
  (value, path) => {
    if (isText(value) && FIELD_VALUE.test(value)) return;
    const what = isText(value) ? 'a string with other characters' : typeof value;
    throw new RobotsInvalidOptionsError(
      `Expected \`${path}\` to be a string that a header field can carry, got ${what}`,
    );
  },
);

/**
 * The preset of that name, or a copy of the object, so that later changes to it have no effect. A status map without
 * an entry for 2xx extends that of `rfc9309`.
 */
export function readProfile(profile: ProfileName | Profile): Profile {
  if (typeof profile === 'string') return profiles[profile];
  const copy = structuredClone(profile);
  return '2xx' in copy.status ? copy : { ...copy, status: { ...profiles.rfc9309.status, ...copy.status } };
}

/** An override is for a whole origin, so a key with a path is refused. */
function overrideOrigin(key: string): string {
  try {
    const { origin, href } = new URL(key);
    if (originOf(key) === origin && href === `${origin}/`) return origin;
  } catch {
    // Reported below.
  }
  throw new RobotsInvalidOptionsError(
    `Expected a key of \`overrides\` to be an origin such as "https://example.com", got ${quote(key)}`,
  );
}

interface OriginOptions {
  readonly clock: Clock;
  readonly profile: Profile;
  readonly overrides: Readonly<Record<string, OriginOverride>>;
  readonly ftp: Transport | undefined;
  readonly headersForRobots: RobotsClientOptions['headersForRobots'];
}

interface Until {
  /** Epoch ms. */
  readonly until: number;
}

export class OriginSettings {
  readonly #options: OriginOptions;
  readonly #overrides = new Map<string, OverriddenOrigin & Until>();
  readonly #profiles = new Map<string, Profile>();
  /** The profiles that end, the next first. */
  readonly #ends: (Until & { readonly origin: string })[] = [];
  /** When the next profile ends, in epoch ms. */
  profileEndsAt: number;

  constructor(options: OriginOptions) {
    this.#options = options;
    for (const [key, override] of Object.entries(options.overrides)) {
      const origin = overrideOrigin(key);
      if (this.#overrides.has(origin) || this.#profiles.has(origin)) {
        throw new RobotsInvalidOptionsError(
          `Expected one override per origin, got several for ${quote(origin)}`,
        );
      }
      const { until = Infinity } = override;
      if ('profile' in override) {
        this.#profiles.set(origin, readProfile(override.profile));
        if (until !== Infinity) this.#ends.push({ origin, until });
      } else {
        this.#overrides.set(origin, { ...overriddenOrigin(origin, options.profile, override), until });
      }
    }
    this.#ends.sort((one, other) => one.until - other.until);
    this.profileEndsAt = this.#ends[0]?.until ?? Infinity;
  }

  /** The caller's texts and verdicts, those that have ended, too. */
  get overrides(): Iterable<OverriddenOrigin> {
    return this.#overrides.values();
  }

  /** Profiles of single origins. */
  get profiles(): ReadonlyMap<string, Profile> {
    return this.#profiles;
  }

  /** The caller's text or verdict for an origin at `now`. */
  overrideAt(origin: string, now: number): OverriddenOrigin | undefined {
    if (this.#overrides.size === 0) return undefined;
    const override = this.#overrides.get(origin);
    return override !== undefined && now < override.until ? override : undefined;
  }

  /** The file of the caller's text for an origin. */
  overridingFile(origin: string): OverriddenOrigin['file'] {
    return this.#overrides.get(origin)?.file;
  }

  /** Bound, so that it can be passed on by itself. */
  readonly profileOf = (origin: string): Profile => this.#profiles.get(origin) ?? this.#options.profile;

  /** Ends the profiles whose time is over, and returns the origins that had them. */
  endProfiles(now: number): readonly string[] {
    const left = this.#ends.filter(({ until }) => now < until);
    const ended = this.#ends.splice(0, this.#ends.length - left.length).map(({ origin }) => origin);
    for (const origin of ended) this.#profiles.delete(origin);
    this.profileEndsAt = left[0]?.until ?? Infinity;
    return ended;
  }

  /** Whether robots.txt can be fetched: `ftp:` needs a transport. */
  canAsk(origin: string): boolean {
    return this.#options.ftp !== undefined || !isFtp(origin);
  }

  /** The transport for an origin of `ftp:`; `undefined` for others. */
  ftpFor(origin: string): Transport | undefined {
    return isFtp(origin) ? this.#options.ftp : undefined;
  }

  /**
   * Calls `headersForRobots` for an origin. Bound, so that it can be passed on by itself.
   *
   * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when it throws or returns invalid header fields.
   */
  readonly headersFor = (origin: string): Readonly<Record<string, string>> | undefined => {
    try {
      const headers = this.#options.headersForRobots?.(origin);
      if (headers !== undefined) headerFieldsCheck(headers, `headersForRobots(${quote(origin)})`);
      return headers;
    } catch (cause) {
      if (cause instanceof RobotsInvalidOptionsError) throw cause;
      throw new RobotsInvalidOptionsError(`\`headersForRobots\` failed for ${quote(origin)}`, { cause });
    }
  };

  /** Whether the response of `origin` would be read as in an attempt for `asked` that was redirected there. */
  isReadAlike(origin: string, asked: string): boolean {
    return !this.#overrides.has(origin) && this.profileOf(origin) === this.profileOf(asked);
  }
}

function isFtp(origin: string): boolean {
  return origin.startsWith('ftp:');
}
