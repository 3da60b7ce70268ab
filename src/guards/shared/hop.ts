import type { Decision, RedirectChain } from '../../core/decision/index.ts';
import type { TakenSlot } from '../../core/pacing/index.ts';
import { refusalFor } from './refusal.ts';

/** What the caller said about a request. It holds for the redirects of the request, too. */
export interface HopOptions {
  readonly signal?: AbortSignal | undefined;
  /** The reason to send the request without a check of robots.txt. */
  readonly because?: string | undefined;
  /** Whether the request can wait for its slot. @default true */
  readonly waits?: boolean;
  /** It waits no longer, although the guard would. In ms. @default that of the guard */
  readonly maxDelayMs?: number | undefined;
  /**
   * Whether another guard decides about the same request again. This one then tells of a refusal only, so that no
   * request is counted twice. @default false
   */
  readonly isPreliminary?: boolean;
}

/**
 * One request, of the caller or by a redirect, on its way through the steps of a guard. Each step reads what the steps
 * before it have written here.
 */
export class Hop {
  /** As the library gives it. */
  readonly url: string | URL;
  readonly options: HopOptions;
  /** Written by the step `decide`; `undefined` for a request that is not checked. */
  decision: Decision | undefined;
  /** Written by the step `pace`. */
  slot: TakenSlot | undefined;
  /** Whether a refusal was told, so that a dry run tells of it once. */
  refusalReported = false;
  /** The status of the answer, written by the step `look`. */
  status: number | undefined;
  /** When it was sent, in epoch ms, if requests are published; `undefined` once this one was. */
  startedAt: number | undefined;
  readonly #from: Hop | undefined;

  constructor(url: string | URL, options: HopOptions = {}, from?: Hop) {
    this.url = url;
    this.options = options;
    this.#from = from;
  }

  /** The request that a redirect of this one leads to. */
  redirectedTo(url: string | URL, options: HopOptions = this.options): Hop {
    return new Hop(url, options, this);
  }

  /** The same request once more, as clients repeat it. */
  again(): Hop {
    return new Hop(this.url, this.options, this.#from);
  }

  get isRedirected(): boolean {
    return this.#from !== undefined;
  }

  /** The URL that was asked for, and those between it and this one. */
  get way(): RedirectChain {
    const urls: string[] = [];
    for (let hop: Hop | undefined = this.#from; hop !== undefined; hop = hop.#from)
      urls.push(hrefOf(hop.url));
    const requested = urls.pop() ?? this.decision?.url ?? hrefOf(this.url);
    return { requested, redirects: urls.reverse() };
  }

  /** The error for a decision about this request. */
  refusalBy(decision: Decision): ReturnType<typeof refusalFor> {
    return refusalFor(decision, this.way);
  }
}

function hrefOf(url: string | URL): string {
  return typeof url === 'string' ? new URL(url).href : url.href;
}
