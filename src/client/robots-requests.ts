import type { LightAbortSignal } from '../base/index.ts';
import type { CacheEntry } from '../cache/index.ts';
import { decide } from '../decision/index.ts';
import { platform } from '#platform';
import { fetchRobots, fetchTransport, type Validators } from '../fetch/index.ts';
import type { Transport } from '../fetch/transport.ts';
import { attemptDue, type OriginRecord, type Outcome, type Profile } from '../lifecycle/index.ts';
import { isRobotsTarget, locate, LocatedUrl, ROBOTS_PATH } from '../url/index.ts';
import { channels } from './diagnostics.ts';
import { headersFor, type Settings } from './settings.ts';
import { FTP } from './overrides.ts';

/** The records of origins and the settings that an attempt needs. */
export interface AttemptContext {
  readonly profileOf: (origin: string) => Profile;
  /** The entry in memory, whatever its age. */
  readonly recall: (origin: string) => CacheEntry | undefined;
}

/** Fetches robots.txt files with the client's settings. */
export class RobotsRequests {
  private readonly settings: Settings;
  private readonly context: AttemptContext;
  private readonly transport: Transport;

  private constructor(settings: Settings, context: AttemptContext, transport: Transport) {
    this.settings = settings;
    this.context = context;
    this.transport = transport;
  }

  /** Loads the transport, and undici with it, if the settings need it. */
  static async open(settings: Settings, context: AttemptContext): Promise<RobotsRequests> {
    const { fetch, dispatcher, lookup, deadlineMs: connectTimeoutMs } = settings;
    const publicOnly = settings.addressPolicy === 'public-only';
    const transport =
      fetch === undefined
        ? await platform.openTransport({ dispatcher, publicOnly, lookup, connectTimeoutMs })
        : fetchTransport(fetch);
    return new RobotsRequests(settings, context, transport);
  }

  /** Makes one attempt, and publishes its end. */
  async make(origin: string, known: OriginRecord | undefined, signal: LightAbortSignal): Promise<Outcome> {
    const { clock } = this.settings;
    const startedAt = clock.now();
    const fetching = this.fetch(origin, validatorsOf(known), signal);
    if (!channels.fetch.hasSubscribers) return fetching;
    const revalidation = known?.copy !== undefined;
    const message = { origin, url: origin + ROBOTS_PATH, startedAt, revalidation };
    const ended = (outcome: Outcome | undefined): void =>
      channels.fetch.publish({ ...message, outcome, durationMs: clock.now() - startedAt });
    fetching.then(ended, () => ended(undefined));
    return fetching;
  }

  /** Closes the client's own connections. The FTP transport is the caller's, who may share it. */
  async close(): Promise<void> {
    await this.transport.close?.();
  }

  private fetch(
    origin: string,
    validators: Validators | undefined,
    signal: LightAbortSignal,
  ): Promise<Outcome> {
    const { settings } = this;
    const headers = headersFor(origin, settings);
    return fetchRobots({
      origin,
      agent: settings.userAgent,
      profile: this.context.profileOf(origin),
      transport: (origin.startsWith(FTP) ? settings.ftp : undefined) ?? this.transport,
      deadlineMs: settings.deadlineMs,
      maxBodyBytes: settings.maxBodyBytes,
      addressPolicy: settings.addressPolicy,
      ...(settings.lookup === undefined ? {} : { lookup: settings.lookup }),
      isRedirectDisallowed: (url) => this.isKnownDisallowed(url, origin),
      signal,
      clock: settings.clock,
      ...(headers === undefined ? {} : { headersForRobots: headers }),
      ...(validators === undefined ? {} : { validators }),
    });
  }

  /**
   * Whether cached rules disallow a redirect hop, for the client's own agent. Never fetches, so there is no
   * recursion. The origin being fetched is skipped: its rules are just being replaced, and a robots.txt moved to a
   * disallowed folder would open its site at every refresh.
   */
  private isKnownDisallowed(url: string, asked: string): boolean {
    const located = new LocatedUrl();
    locate(url, located);
    if (located.origin === asked || isRobotsTarget(located)) return false;
    const now = this.settings.clock.now();
    const entry = this.context.recall(located.origin);
    if (entry === undefined || attemptDue(entry.record, entry.profile, now) === 'now') return false;
    const decision = decide(entry, this.settings.tokens, located, now, 'memory');
    return decision.reason === 'rule' && !decision.allowed;
  }
}

function validatorsOf(known: OriginRecord | undefined): Validators | undefined {
  if (known?.copy === undefined) return undefined;
  const { finalUrl: url, etag, lastModified } = known.copy;
  return {
    url,
    ...(etag === undefined ? {} : { etag }),
    ...(lastModified === undefined ? {} : { lastModified }),
  };
}
