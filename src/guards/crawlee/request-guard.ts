import { causesOf, isRobotsError } from '../../core/base/index.ts';
import type { RobotsDeferredError } from '../../core/pacing/index.ts';
import { ignoredBecause } from '../shared/ignore.ts';
import { type Refusal, refusalIn } from '../shared/refusal.ts';
import { redirects } from '../shared/answer.ts';
import type { Guard } from '../shared/guard.ts';
import { Hop } from '../shared/hop.ts';
import type { HttpRequest, HttpResponse, RequestSteps } from './http-client.ts';
import type { PageGuard } from './page-guard.ts';
import { type CrawlRequest, robotsOf } from './types.ts';

/** How far the guard has come with a request of the queue. */
type State =
  /** The crawler waits for a request of the queue. */
  | { readonly name: 'waiting' }
  /** It has one, which is not decided; in a browser, the guard of its page will decide. */
  | { readonly name: 'taken'; readonly request: CrawlRequest }
  /** It may be sent, in the slot of the hop. */
  | { readonly name: 'admitted'; readonly request: CrawlRequest; readonly hop: Hop }
  /** It was handed to the HTTP client. Its redirects, and what its handler sends, are decided anew. */
  | { readonly name: 'sent'; readonly request: CrawlRequest }
  /** It, or a redirect that it met, was refused. */
  | { readonly name: 'refused'; readonly request: CrawlRequest; readonly refusal: Refusal }
  /** It, or what was sent for it, would have to wait too long. It is handled later. */
  | { readonly name: 'deferred'; readonly request: CrawlRequest; readonly deferral: RobotsDeferredError }
  /** An error prevented a decision. The request fails with it. */
  | { readonly name: 'undecided'; readonly request: CrawlRequest; readonly error: unknown };

/** The guard of one request of the queue, from the time it is taken until its handler has ended. */
export class RequestGuard {
  readonly #guard: Guard;
  readonly #maxDelayMs: number | undefined;
  #state: State = { name: 'waiting' };
  /** The hop whose slot ends with the handler. */
  #hop: Hop | undefined;
  /** The guard of the page that it navigates. */
  #page: PageGuard | undefined;
  /** See {@link takeSkipText}. */
  #skipText: string | undefined;

  /** @param maxDelayMs The longest wait of what is sent while the request is handled. */
  constructor(guard: Guard, maxDelayMs?: number) {
    this.#guard = guard;
    this.#maxDelayMs = maxDelayMs;
  }

  /** The crawler has taken `request` from the queue. */
  take(request: CrawlRequest): void {
    this.#state = { name: 'taken', request };
  }

  /**
   * Whether the crawler may handle its request. An error that prevents a decision is thrown by {@link begin}.
   *
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`) when it has to wait too long.
   */
  async admit(url: string, inBrowser: boolean): Promise<boolean> {
    const request = this.#requestFor(url) ?? { url };
    try {
      const because = ignoredBecause(robotsOf(request));
      // In a browser the guard of the page tells of the request.
      if (inBrowser && (because !== undefined || !this.#guard.enforces)) return true;
      const hop = new Hop(url, { because, waits: !inBrowser, isPreliminary: inBrowser });
      const refusal = await this.#guard.admit(hop);
      if (refusal !== undefined) {
        this.#refuse(request, refusal);
        return false;
      }
      if (inBrowser) return true;
      this.#hold(hop);
      this.#state = { name: 'admitted', request, hop };
    } catch (error) {
      if (await this.defers(error)) throw error;
      this.#state = { name: 'undecided', request, error };
    }
    return true;
  }

  /**
   * The handler begins.
   *
   * @param navigates Whether the crawler sends the request. A `BasicCrawler` leaves that to its handler, where the guard
   * may not see it.
   * @throws what prevented a decision.
   */
  async begin(navigates: boolean): Promise<void> {
    if (this.#state.name === 'undecided') throw this.#state.error;
    if (!navigates) await this.#hop?.slot?.leave();
  }

  /** Takes a request of the HTTP client through the steps. @param navigates Whether its answer is the page of the request. */
  stepsOf(request: HttpRequest, navigates: boolean): RequestSteps {
    const own = this.#requestFor(request.url);
    const because = ignoredBecause(request.robots ?? robotsOf(own));
    const state = this.#state;
    const isAdmitted =
      state.name === 'admitted' && own?.url === state.hop.url && request.robots === undefined;
    if (isAdmitted) this.#state = { name: 'sent', request: state.request };
    // A request that the handler sends must not wait for the end of that very handler.
    else if (!navigates) this.end();
    return new SteppedRequest(this.#guard, request, {
      because,
      maxDelayMs: this.#maxDelayMs,
      admitted: isAdmitted ? state.hop : undefined,
      ...(navigates && {
        onHop: (hop: Hop) => this.#hold(hop),
        onRefusal: (refusal: Refusal) => this.#refuse(own ?? { url: String(request.url) }, refusal),
      }),
    });
  }

  /** A browser navigates to the request, or has done so. Later navigations by the handler do not belong to it. */
  set page(page: PageGuard | undefined) {
    this.#page = page;
  }

  /** The refusal of the request, or of a redirect that it met. */
  async refusal(): Promise<Refusal | undefined> {
    if (this.#state.name === 'refused') return this.#state.refusal;
    const refusal = refusalIn(await this.#page?.errorOfPage());
    if (refusal !== undefined && this.#state.name !== 'waiting') this.#refuse(this.#state.request, refusal);
    return refusal;
  }

  /** Whether the request is deferred, because of `error` or what blocked its page. */
  async defers(error: unknown): Promise<boolean> {
    const deferral = deferralIn(error) ?? deferralIn(await this.#page?.errorOfPage());
    const request = this.taken;
    if (deferral === undefined || request === undefined) return false;
    this.#state = { name: 'deferred', request, deferral };
    return true;
  }

  /** Why the request is deferred. */
  get deferral(): RobotsDeferredError | undefined {
    return this.#state.name === 'deferred' ? this.#state.deferral : undefined;
  }

  /** The request that was taken from the queue. */
  get taken(): CrawlRequest | undefined {
    return this.#state.name === 'waiting' ? undefined : this.#state.request;
  }

  /** The refusal that is known so far. */
  get knownRefusal(): Refusal | undefined {
    return this.#state.name === 'refused' ? this.#state.refusal : undefined;
  }

  /** Why the request is skipped, once: for the warning that Crawlee logs next. */
  takeSkipText(): string | undefined {
    const text = this.#skipText;
    this.#skipText = undefined;
    return text;
  }

  /** The handler has ended, or the request was not sent. */
  end(): void {
    if (this.#hop !== undefined) this.#guard.record(this.#hop);
    this.#hop = undefined;
  }

  #requestFor(url: string | URL): CrawlRequest | undefined {
    const request = this.taken;
    if (request === undefined) return undefined;
    return request.url === url || new URL(request.url).href === new URL(url).href ? request : undefined;
  }

  #hold(hop: Hop): void {
    if (this.#hop !== hop) this.end();
    this.#hop = hop;
  }

  #refuse(request: CrawlRequest, refusal: Refusal): void {
    this.#state = { name: 'refused', request, refusal };
    this.#skipText = `Skipping request ${request.url} (${request.id}): ${refusal.message}`;
  }
}

/** The deferral that an error is, or was caused by. */
function deferralIn(error: unknown): RobotsDeferredError | undefined {
  for (const each of causesOf(error)) {
    // By its code, because a handler may use another copy of this package.
    if (Reflect.get(each, 'code') === 'ERR_ROBOTS_DEFERRED' && isRobotsError(each))
      return each as RobotsDeferredError;
  }
  return undefined;
}

/** What belongs to a request of the HTTP client besides the request. */
interface StepOptions {
  readonly because: string | undefined;
  readonly maxDelayMs?: number | undefined;
  /** The hop that was admitted when the request was taken from the queue. */
  readonly admitted: Hop | undefined;
  /** Called with each hop. Its slot then ends elsewhere. */
  readonly onHop?: (hop: Hop) => void;
  readonly onRefusal?: (refusal: Refusal) => void;
}

/** A request of the HTTP client, and the redirects it meets, on their way through the steps. */
export class SteppedRequest implements RequestSteps {
  readonly #guard: Guard;
  readonly #request: HttpRequest;
  readonly #options: StepOptions;
  #hop: Hop | undefined;

  constructor(guard: Guard, request: HttpRequest, options: StepOptions) {
    this.#guard = guard;
    this.#request = request;
    this.#options = options;
  }

  async admit(url: URL): Promise<void> {
    const { signal } = this.#request;
    const { because, maxDelayMs, admitted, onHop } = this.#options;
    if (this.#hop === undefined && admitted !== undefined) {
      this.#hop = admitted;
      await this.#guard.leave(admitted);
      return;
    }
    const options = { signal, because, maxDelayMs };
    const hop = this.#hop?.redirectedTo(url, options) ?? new Hop(url, options);
    this.#hop = hop;
    onHop?.(hop);
    const refusal = await this.#guard.admit(hop);
    if (refusal !== undefined) throw this.#refused(refusal);
    await this.#guard.leave(hop);
  }

  look({ statusCode, headers }: Pick<HttpResponse, 'statusCode' | 'headers'>): Refusal | undefined {
    if (this.#hop === undefined) return undefined;
    const refusal = this.#guard.look(this.#hop, statusCode, headers);
    if (this.#options.onHop === undefined || redirects(statusCode, headers)) this.#guard.record(this.#hop);
    return refusal && this.#refused(refusal);
  }

  fail(error: unknown): void {
    if (this.#hop === undefined) return;
    // With a proxy, the proxy may have failed rather than the site.
    if (this.#request.proxyUrl === undefined) this.#guard.fail(this.#hop, error);
    else this.#guard.record(this.#hop);
  }

  #refused(refusal: Refusal): Refusal {
    this.#options.onRefusal?.(refusal);
    return refusal;
  }
}
