import { omitUndefined, sha256Of } from '../base/index.ts';
import {
  detectSuspect,
  isBotChallenge,
  mayBeChallenge,
  type Outcome,
  retryAfterMs,
  type RobotsResponseHeaders,
  type Route,
  type StatusClass,
  type Suspect,
  SUSPECT_BYTES,
} from '../lifecycle/index.ts';
import { readBody, readStart } from './body.ts';
import { CHALLENGE, STATUS } from './failure.ts';
import type { FetchRobotsOptions, TransportResponse } from './transport.ts';
import { framingFault } from './framing.ts';
import { boundedField } from './header-fields.ts';

type WithoutRoute<Kind> = Kind extends unknown
  ? Omit<Kind, Exclude<keyof Route, 'suspect'> | 'headers'>
  : never;

/** An outcome, without the way to it. */
export type Finding = WithoutRoute<Outcome>;

/** How long to wait for the body of an error status, which only serves to recognise a challenge page. */
const PAGE_MS = 1_000;

/** Reads the last response of an attempt: the file, or why there is none. */
export class ResponseReader {
  readonly #response: TransportResponse;
  readonly #route: Route;
  readonly #headers: RobotsResponseHeaders;
  readonly #options: FetchRobotsOptions;
  /** What the status alone says, while the body is read for more. */
  findingByStatus: Finding | undefined;

  constructor(
    response: TransportResponse,
    route: Route,
    headers: RobotsResponseHeaders,
    options: FetchRobotsOptions,
  ) {
    this.#response = response;
    this.#route = route;
    this.#headers = headers;
    this.#options = options;
  }

  /** A protocol may change it while the body is read. */
  get status(): number {
    return this.#response.status;
  }

  /** The pause that the response asks for. */
  get retryAfterMs(): number | undefined {
    const { retryAfter } = this.#headers;
    const { clock, profile } = this.#options;
    return retryAfter === undefined ? undefined : retryAfterMs(retryAfter, clock.now(), profile.retryAfter);
  }

  /** @param abort Ends a body that takes too long. */
  async read(meaning: StatusClass, abort: () => void): Promise<Finding> {
    if (meaning === 'rules') return this.#readRules();
    if (this.#options.profile.challenge === 'as-status') this.findingByStatus = this.#withoutRules(meaning);
    return this.#withoutRules(meaning, this.#suspect(await this.#startOfPage(abort)));
  }

  #withoutRules(meaning: Exclude<StatusClass, 'rules'>, suspect?: Suspect): Finding {
    if (this.#isChallenge(suspect)) return this.#unreachable(CHALLENGE, suspect);
    if (meaning === 'unreachable') return this.#unreachable(STATUS, suspect);
    // RFC 9309 §2.3.1.3: "If a server status code indicates that the robots.txt file is unavailable to the
    // crawler, then the crawler MAY access any resources on the server."
    return { kind: meaning, status: this.status, ...omitUndefined({ suspect }) };
  }

  #unreachable(error: string, suspect?: Suspect): Finding {
    const { retryAfterMs } = this;
    return { kind: 'unreachable', error, ...omitUndefined({ retryAfterMs, suspect }) };
  }

  /**
   * RFC 9309 §2.3.1.1: "If the crawler successfully downloads the robots.txt file, the crawler MUST follow the
   * parseable rules."
   */
  async #readRules(): Promise<Finding> {
    const response = this.#response;
    const { status } = response;
    const error = framingFault(response);
    if (error !== undefined) {
      response.discard();
      return { kind: 'unreachable', error };
    }
    const { body, truncated } = await readBody(response, this.#options.maxBodyBytes);
    const suspect = this.#suspect(body);
    if (this.#isChallenge(suspect)) return this.#unreachable(CHALLENGE, suspect);
    const sha256 = await sha256Of(body);
    return { kind: 'success', status, body, sha256, truncated, ...omitUndefined({ suspect }) };
  }

  #suspect(start: Uint8Array): Suspect | undefined {
    const { status, headers } = this.#response;
    const field = (name: string): string | undefined => boundedField(headers, name);
    return detectSuspect({ status, field, start, ...this.#route });
  }

  #isChallenge(suspect: Suspect | undefined): boolean {
    return this.#options.profile.challenge === 'unreachable' && isBotChallenge(suspect);
  }

  /** Reads the start of what may be a challenge page, for a short time. */
  async #startOfPage(abort: () => void): Promise<Uint8Array> {
    const response = this.#response;
    const type = boundedField(response.headers, 'content-type') ?? '';
    if (!mayBeChallenge(response.status) || !/html/i.test(type)) {
      response.discard();
      return new Uint8Array(0);
    }
    const timer = setTimeout(abort, PAGE_MS);
    const start = await readStart(response, SUSPECT_BYTES);
    clearTimeout(timer);
    return start;
  }
}
