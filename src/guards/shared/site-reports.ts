import { causesOf } from '../../core/base/index.ts';
import { type DecisionEngine, engineOf } from '../../core/client/engine.ts';
import type { GuardClient } from './client.ts';
import { type AnswerFields, fieldOf } from './answer.ts';

const REACHABLE = Object.freeze({ reachable: true });
const UNREACHABLE = Object.freeze({ reachable: false });

/** Reports to the client what the requests of a guard show of sites: whether they answer, and ask for a pause. */
export class SiteReports {
  readonly #client: GuardClient;
  readonly #engine: DecisionEngine | undefined;

  constructor(client: GuardClient) {
    this.#client = client;
    this.#engine = engineOf(client);
  }

  /**
   * An answer came: the site is reachable unless the status is 5xx, and may ask for a pause.
   *
   * @param origin That of `url`, if a decision tells it: then the URL need not be read again.
   */
  answered(url: string | URL, status: number, headers: AnswerFields, origin?: string): void {
    const isReachable = status < 500;
    if (asksForPause(status)) {
      this.#report(url, isReachable, fieldOf(headers, 'retry-after'));
      return;
    }
    if (origin === undefined || this.#engine === undefined) this.#report(url, isReachable);
    else this.#engine.reportOrigin(origin, isReachable);
  }

  /** A request failed. Not reported when the failure says nothing about the site. */
  failed(url: string | URL, error: unknown, signal: AbortSignal | undefined): void {
    // Not when the caller aborted, another guard refused, or the request could not be sent.
    if (signal?.aborted !== true && isNetworkError(error)) this.unanswered(url);
  }

  /** A site did not answer. */
  unanswered(url: string | URL): void {
    this.#report(url, false);
  }

  #report(url: string | URL, reachable: boolean, retryAfter: string | null = null): void {
    try {
      const signal = reachable ? REACHABLE : UNREACHABLE;
      this.#client.report(url, retryAfter === null ? signal : { reachable, retryAfter });
    } catch {
      // A client closed meanwhile needs no report. The answer still goes to the caller.
    }
  }
}

/** RFC 6585 §4 and RFC 9110 §15.6.4: statuses whose `Retry-After` is the time to wait before a new request. */
function asksForPause(status: number): boolean {
  return status === 429 || status === 503;
}

/** Error codes of network failures: of Node, undici, and TLS as OpenSSL names them. */
const NETWORK_CODE =
  /^(?:E[A-Z]{2,}$|UND_ERR_(?:SOCKET|CONNECT_TIMEOUT|HEADERS_TIMEOUT|BODY_TIMEOUT)|CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Whether an error, or one of its causes, has the code of a network failure. */
function isNetworkError(error: unknown): boolean {
  for (const each of causesOf(error)) {
    const code: unknown = Reflect.get(each, 'code');
    if (typeof code === 'string' && NETWORK_CODE.test(code)) return true;
  }
  return false;
}
