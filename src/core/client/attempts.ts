import {
  channel,
  type ClientMessage,
  type LightAbortSignal,
  type Publisher,
  type TracedWork,
  tracedWork,
} from '../base/index.ts';
import type { Attempts } from '../cache/index.ts';
// By condition `fetch/platform/undici.ts` or `fetch/platform/fetch.ts`: see `imports` in package.json.
import { platform } from '#platform';
import { fetchRobots, type FetchRobotsOptions, fetchTransport } from '../fetch/index.ts';
import type { Transport } from '../fetch/transport.ts';
import type { OriginRecord, Outcome } from '../lifecycle/index.ts';
import { ROBOTS_PATH } from '../url/index.ts';
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

/** What the attempts of a client are made with. */
export interface AttemptContext {
  readonly settings: Settings;
  readonly origins: OriginSettings;
  /** Whether a redirect of the robots.txt of `origin` leads to a URL that rules in memory disallow. */
  readonly isDisallowed: (url: string, origin: string) => boolean;
  /** The client, for messages about its attempts. */
  readonly client: object;
}

/** The attempts of a client to fetch a robots.txt, made with its settings. */
export class ClientAttempts implements Attempts {
  readonly #context: AttemptContext;
  readonly #transport: Transport;

  private constructor(context: AttemptContext, transport: Transport) {
    this.#context = context;
    this.#transport = transport;
  }

  /** Loads the transport, and undici with it, if the settings need it. */
  static async open(context: AttemptContext): Promise<ClientAttempts> {
    const { fetch, dispatcher, lookup, addressPolicy, deadlineMs: connectTimeoutMs } = context.settings;
    const { undici } = platform;
    if (fetch !== undefined) {
      undici?.surviveManyCodings();
      return new ClientAttempts(context, fetchTransport(fetch));
    }
    const publicOnly = addressPolicy === 'public-only';
    // Settings without a `fetch` are for platforms with undici only.
    const transport = await undici!.openTransport({ dispatcher, publicOnly, lookup, connectTimeoutMs });
    return new ClientAttempts(context, transport);
  }

  attempt(origin: string, known: OriginRecord | undefined, signal: LightAbortSignal): Promise<Outcome> {
    if (!traced.hasSubscribers) return this.#perform(origin, known, signal);
    const revalidation = known?.copy !== undefined;
    const message = { origin, url: origin + ROBOTS_PATH, revalidation, client: this.#context.client };
    return traced.tracePromise(() => this.#perform(origin, known, signal), message);
  }

  /** Closes the client's own connections. The FTP transport is the caller's, who may share it. */
  async close(): Promise<void> {
    await this.#transport.close?.();
  }

  /** Makes one attempt, and publishes its end. */
  async #perform(
    origin: string,
    known: OriginRecord | undefined,
    signal: LightAbortSignal,
  ): Promise<Outcome> {
    const { settings, client } = this.#context;
    const { clock } = settings;
    const startedAt = clock.now();
    const fetching = fetchRobots(this.#optionsFor(origin, known, signal));
    if (!fetchChannel.hasSubscribers) return fetching;
    const revalidation = known?.copy !== undefined;
    const message = { origin, url: origin + ROBOTS_PATH, startedAt, revalidation, client };
    const ended = (outcome: Outcome | undefined): void =>
      fetchChannel.publish({
        ...message,
        outcome: outcome && forLogs(outcome),
        durationMs: clock.now() - startedAt,
      });
    fetching.then(ended, () => ended(undefined));
    return fetching;
  }

  #optionsFor(origin: string, known: OriginRecord | undefined, signal: LightAbortSignal): FetchRobotsOptions {
    const { settings, origins, isDisallowed, client } = this.#context;
    const { clock, userAgent: agent, deadlineMs, maxBodyBytes, addressPolicy, lookup } = settings;
    return {
      origin,
      agent,
      profile: origins.profileOf(origin),
      transport: origins.ftpFor(origin) ?? this.#transport,
      deadlineMs,
      maxBodyBytes,
      addressPolicy,
      lookup,
      isRedirectDisallowed: (url) => isDisallowed(url, origin),
      signal,
      clock,
      headersForRobots: origins.headersFor(origin),
      copy: known?.copy,
      client,
    };
  }
}

/** The outcome, whose JSON has the number of bytes in place of the body: subscribers write messages into logs. */
function forLogs(outcome: Outcome): Outcome {
  if (outcome.kind !== 'success') return outcome;
  const { body, ...others } = outcome;
  return Object.defineProperty({ ...outcome }, 'toJSON', {
    value: () => ({ ...others, bytes: body.length }),
  });
}
