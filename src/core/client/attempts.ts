import { Lazy, type LightAbortSignal, type TracedWork, tracedWork } from '../base/index.ts';
import type { Attempts, OriginMemory } from '../cache/index.ts';
import type { OriginRecord, Outcome } from '../lifecycle/index.ts';
import { ROBOTS_PATH } from '../url/index.ts';
import type { OriginSettings } from './origin-settings.ts';
import type { RobotsRequests } from './robots-requests.ts';
import type { Settings } from './settings.ts';

/** `tracing:canfetch:attempt:*`: an attempt to fetch a robots.txt, however many questions wait for it. */
export interface AttemptMessage {
  readonly origin: string;
  /** `<origin>/robots.txt`. */
  readonly url: string;
  /** Whether the request is conditional. */
  readonly revalidation: boolean;
  /** The client that makes it. */
  readonly client: object;
  /** At its end: the outcome. Do not change its body. */
  readonly result?: Outcome;
  /** At its end: why it was given up. */
  readonly error?: unknown;
}

const traced: TracedWork<AttemptMessage> = tracedWork('canfetch:attempt');

/**
 * The attempts of a client. Loads `robots-requests.ts`, and HTTP with it, at the first: that takes half of the import
 * time of the package.
 */
export class ClientAttempts implements Attempts {
  /** For messages about its attempts. */
  readonly #client: object;
  readonly #requests: Lazy<RobotsRequests>;

  constructor(settings: Settings, origins: OriginSettings, memory: OriginMemory, client: object) {
    this.#client = client;
    this.#requests = new Lazy(async () => {
      const { RobotsRequests } = await import('./robots-requests.ts');
      return RobotsRequests.open(settings, origins, memory);
    });
  }

  attempt(origin: string, known: OriginRecord | undefined, signal: LightAbortSignal): Promise<Outcome> {
    if (!traced.hasSubscribers) return this.#perform(origin, known, signal);
    const revalidation = known?.copy !== undefined;
    const message = { origin, url: origin + ROBOTS_PATH, revalidation, client: this.#client };
    return traced.tracePromise(() => this.#perform(origin, known, signal), message);
  }

  /** Closes the client's own connections. */
  async close(): Promise<void> {
    const requests = await this.#requests.needed;
    await requests?.close();
  }

  async #perform(
    origin: string,
    known: OriginRecord | undefined,
    signal: LightAbortSignal,
  ): Promise<Outcome> {
    const requests = this.#requests.part ?? (await this.#requests.get());
    return requests.perform(origin, known, signal);
  }
}
