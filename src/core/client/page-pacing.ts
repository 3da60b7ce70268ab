import { type ClientMessage, ignore, Lazy, type TracedWork, tracedWork } from '../base/index.ts';
import type { Decision, OriginPacing } from '../decision/index.ts';
import { asksForPause } from '../lifecycle/index.ts';
import type { Pace, PacingTotals, RequestPermit } from '../pacing/index.ts';
import type { Pacer, PacerOptions } from '../pacing/pacer.ts';
import { originOf, targetOf } from '../url/index.ts';
import type { StoredOrigins } from '../store/stored-origins.ts';
import type { Settings } from './settings.ts';

/** Paced origins take little memory, so a small `cache.maxOrigins` does not limit them. */
const MIN_PACED_ORIGINS = 1_000;

/** `tracing:canfetch:permit`: a request for a page that waits, for its turn or for the end of a pause. */
export interface PermitMessage extends ClientMessage {
  /** Without userinfo and fragment. */
  readonly url: string;
  readonly origin: string;
  /** At its end: the permit. */
  readonly result?: RequestPermit;
  /** At its end: why there is none, such as a `RobotsDeferredError`. */
  readonly error?: unknown;
}

const waiting: TracedWork<PermitMessage> = tracedWork('canfetch:permit');

interface PagePacingOptions extends Required<
  Pick<PacerOptions, 'fileOf' | 'onBookedRequest' | 'onDeferral' | 'onPause'>
> {
  readonly settings: Settings;
  /** The client, for messages about its requests. */
  readonly client: object;
  /** Aborted when the client closes, with the reason for all who wait. */
  readonly ending: AbortSignal;
  readonly stored: Lazy<StoredOrigins> | undefined;
}

/** When the page requests of a client may start. The pacer is loaded by the first of them, or by the first pause. */
export class PagePacing {
  readonly #options: PagePacingOptions;
  readonly pacer: Lazy<Pacer> = new Lazy(() => this.#open());

  constructor(options: PagePacingOptions) {
    this.#options = options;
  }

  async #open(): Promise<Pacer> {
    const { Pacer } = await import('../pacing/pacer.ts');
    const { settings, client: _, stored, ending, ...listeners } = this.#options;
    const { clock, random, maxOrigins } = settings;
    const { fleet } = (await stored?.load()) ?? {};
    return new Pacer({
      ...listeners,
      clock,
      random,
      maxOrigins: Math.max(MIN_PACED_ORIGINS, maxOrigins),
      // A client that was closed meanwhile may not have closed this store. A reported pause is evidence all the same.
      fleet: ending.aborted ? undefined : fleet,
    });
  }

  /** The pacer, to book with. */
  async load(): Promise<Pacer> {
    const pacer = await this.pacer.load();
    this.#options.ending.throwIfAborted();
    return pacer;
  }

  /** `RobotsClient.acquirePermit`, but a promise only when the request has to wait. */
  acquire(
    decision: Decision,
    pace: Pace,
    signal: AbortSignal | undefined,
    endsByItself = false,
  ): RequestPermit | Promise<RequestPermit> {
    this.#options.ending.throwIfAborted();
    const { value: pacer } = this.pacer;
    const acquired =
      pacer?.acquire(decision, pace, signal, endsByItself) ??
      this.load().then((pacer) => pacer.acquire(decision, pace, signal, endsByItself));
    if (!(acquired instanceof Promise) || !waiting.hasSubscribers) return acquired;
    const { url, origin } = decision;
    const message = { url: origin + targetOf(url), origin, client: this.#options.client };
    return waiting.tracePromise(() => acquired, message);
  }

  /** Says how a page is paced before its robots.txt is known: a pause that robots.txt asks for is one of this scope. */
  setPace(url: string | URL, pace: Pace): void {
    void this.pacer
      .load()
      .then((pacer) => pacer.setPace({ url: String(url), origin: originOf(url) }, pace))
      .catch(ignore);
  }

  /** robots.txt of an origin was answered with a status that may ask for a pause. */
  robotsAsk(origin: string, retryAfter: string, status: number | undefined): void {
    const now = this.#options.settings.clock.now();
    // Other statuses count where pages are paced, whose pacer is being loaded then.
    this.#tell(asksForPause(status), (pacer) => {
      if (pacer.asksForPause(origin, status)) pacer.report(origin, retryAfter, now, status);
    });
  }

  /** An origin asks for a pause. */
  pause(origin: string, retryAfter: string): void {
    const now = this.#options.settings.clock.now();
    this.#tell(true, (pacer) => pacer.report(origin, retryAfter, now));
  }

  /** At once, if the pacer is there. If it cannot be loaded, the next call that needs it rejects with the same error. */
  #tell(mayLoad: boolean, tell: (pacer: Pacer) => void): void {
    const { value, pending } = this.pacer;
    if (value !== undefined) tell(value);
    else void (mayLoad ? this.pacer.load() : pending)?.then(tell, ignore);
  }

  /** The queues in which requests wait, or that are in a pause: what slows a crawl. */
  slowed(): readonly OriginPacing[] {
    return this.pacer.value?.slowed() ?? [];
  }

  totals(): PacingTotals {
    return this.pacer.value?.totals() ?? { waiting: 0, inFlight: 0, paused: 0 };
  }

  /** Rejects requests that wait. A reported pause is written to the evidence once the pacer has loaded. */
  async close(): Promise<void> {
    await this.pacer.pending?.then((pacer) => pacer.close(this.#options.ending.reason), ignore);
  }
}
