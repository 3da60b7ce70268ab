import { causesOf } from '../../core/base/index.ts';
import type { GuardClientAdapter } from './client.ts';
import { type ResponseFields, retryAfterOf } from './response-fields.ts';

/** Reports to the client what the requests of a guard show of sites: whether they respond, and ask for a pause. */
export class SiteReports {
  readonly #client: GuardClientAdapter;

  constructor(client: GuardClientAdapter) {
    this.#client = client;
  }

  /**
   * A response came: the site is reachable unless the status is 5xx, and may ask for a pause.
   *
   * @param origin The origin of `url`, if a decision has it: saves parsing the URL again.
   */
  responded(url: string | URL, status: number, headers: ResponseFields, origin?: string): void {
    const retryAfter = retryAfterOf(status, headers) ?? null;
    this.#report(url, status < 500, origin, retryAfter);
  }

  /** A request failed. Not reported when the failure says nothing about the site. */
  failed(url: string | URL, error: unknown, signal: AbortSignal | undefined, origin?: string): void {
    // Not when the caller aborted, another guard refused, or the request could not be sent.
    if (signal?.aborted !== true && isNetworkError(error)) this.#report(url, false, origin);
  }

  /** A site did not respond. */
  unreachable(url: string | URL): void {
    this.#report(url, false, undefined);
  }

  #report(
    url: string | URL,
    reachable: boolean,
    origin: string | undefined,
    retryAfter: string | null = null,
  ): void {
    try {
      this.#client.reportSite(url, reachable, origin, retryAfter ?? undefined);
    } catch {
      // A client closed meanwhile needs no report. The response still goes to the caller.
    }
  }
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
