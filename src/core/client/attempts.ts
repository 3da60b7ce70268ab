import {
  channel,
  type ClientMessage,
  type LightAbortSignal,
  type Publisher,
  type TracedWork,
  tracedWork,
} from '../base/index.ts';
// By condition `fetch/platform/undici.ts` or `fetch/platform/fetch.ts`: see `imports` in package.json.
import { platform } from '#platform';
import { fetchRobots, fetchTransport } from '../fetch/index.ts';
import type { Transport } from '../fetch/transport.ts';
import type { OriginRecord, Outcome } from '../lifecycle/index.ts';
import { ROBOTS_PATH } from '../url/index.ts';
import type { ClientEngine } from './client-engine.ts';
import type { OriginSettings, Settings } from './settings.ts';

/** `tracing:canfetch:attempt:*`: an attempt to fetch a robots.txt, however many questions wait for it. */
export interface AttemptMessage extends ClientMessage {
  readonly origin: string;
  /** `<origin>/robots.txt`. */
  readonly url: string;
  /** Whether the request is conditional. */
  readonly revalidation: boolean;
  /** At its end: the outcome. Do not change its body. */
  readonly result?: Outcome;
  /** At its end: why it was given up. */
  readonly error?: unknown;
}

const traced: TracedWork<AttemptMessage> = tracedWork('canfetch:attempt');

/** `canfetch:fetch`: an attempt to fetch a robots.txt has ended. */
export interface FetchMessage extends ClientMessage {
  readonly origin: string;
  /** `<origin>/robots.txt`. */
  readonly url: string;
  /**
   * The outcome. Do not change its body; in JSON it is the number of its `bytes`. `undefined` when all waiting callers
   * had left.
   */
  readonly outcome: Outcome | undefined;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Whether the request was conditional. */
  readonly revalidation: boolean;
}

const fetchChannel: Publisher<FetchMessage> = channel('canfetch:fetch');

/** The attempts of a client to fetch a robots.txt, made with its settings. */
export class ClientAttempts {
  readonly #settings: Settings;
  readonly #origins: OriginSettings;
  readonly #engine: ClientEngine;
  readonly #transport: Transport;

  private constructor(
    settings: Settings,
    origins: OriginSettings,
    engine: ClientEngine,
    transport: Transport,
  ) {
    this.#settings = settings;
    this.#origins = origins;
    this.#engine = engine;
    this.#transport = transport;
  }

  /** Loads the transport, and undici with it, if the settings need it. */
  static async open(
    settings: Settings,
    origins: OriginSettings,
    engine: ClientEngine,
  ): Promise<ClientAttempts> {
    return new ClientAttempts(settings, origins, engine, await openTransport(settings));
  }

  attempt(origin: string, known: OriginRecord | undefined, signal: LightAbortSignal): Promise<Outcome> {
    const { client } = this.#engine;
    const revalidation = known?.copy !== undefined;
    const about = { origin, url: origin + ROBOTS_PATH, revalidation, client };
    if (!traced.hasSubscribers) return this.#perform(about, known, signal);
    return traced.tracePromise(() => this.#perform(about, known, signal), { ...about });
  }

  /** Closes the client's own connections. The FTP transport is the caller's, who may share it. */
  async close(): Promise<void> {
    await this.#transport.close?.();
  }

  /** Makes one attempt, and publishes its end. */
  async #perform(
    about: AttemptMessage,
    known: OriginRecord | undefined,
    signal: LightAbortSignal,
  ): Promise<Outcome> {
    const { origin, client } = about;
    const { clock, userAgent: agent, deadlineMs, maxBodyBytes, addressPolicy, lookup } = this.#settings;
    const startedAt = clock.now();
    const fetching = fetchRobots({
      origin,
      agent,
      profile: this.#origins.profileOf(origin),
      transport: this.#origins.ftpFor(origin) ?? this.#transport,
      deadlineMs,
      maxBodyBytes,
      addressPolicy,
      lookup,
      isRedirectDisallowed: (url) => this.#engine.disallowsRedirect(url, origin),
      signal,
      clock,
      headersForRobots: this.#origins.headersFor(origin),
      copy: known?.copy,
      client,
    });
    if (!fetchChannel.hasSubscribers) return fetching;
    const ended = (outcome: Outcome | undefined): void =>
      fetchChannel.publish({
        ...about,
        startedAt,
        outcome: outcome && forLogs(outcome),
        durationMs: clock.now() - startedAt,
      });
    fetching.then(ended, () => ended(undefined));
    return fetching;
  }
}

async function openTransport(settings: Settings): Promise<Transport> {
  const { transport, dispatcher, lookup, addressPolicy, deadlineMs: connectTimeoutMs } = settings;
  const { undici } = platform;
  if (transport !== undefined) {
    undici?.surviveManyCodings();
    return typeof transport === 'function' ? fetchTransport(transport) : transport;
  }
  const publicOnly = addressPolicy === 'public-only';
  // Settings without a transport are for platforms with undici only.
  return undici!.openTransport({ dispatcher, publicOnly, lookup, connectTimeoutMs });
}

/** The outcome, whose JSON has the number of bytes in place of the body: subscribers write messages into logs. */
function forLogs(outcome: Outcome): Outcome {
  if (outcome.kind !== 'success') return outcome;
  const { body, ...others } = outcome;
  return Object.defineProperty({ ...outcome }, 'toJSON', {
    value: () => ({ ...others, bytes: body.length }),
  });
}
