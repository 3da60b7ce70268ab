import { FETCH_FAILED, MALFORMED } from '../base/index.ts';

export { FETCH_FAILED, MALFORMED };

/**
 * Codes of failures that this room names itself. What Node or undici already name (`ENOTFOUND`,
 * `UND_ERR_SOCKET`, …) is passed through unchanged.
 */

/** The whole attempt, all hops and the body included, took longer than the deadline. */
export const DEADLINE = 'ERR_ROBOTS_DEADLINE';

/** The last hop answered with a status that the profile calls unreachable. */
export const STATUS = 'ERR_ROBOTS_STATUS';

/** Under a profile that calls this unreachable: a challenge or a block page in the place of the answer. */
export const CHALLENGE = 'ERR_ROBOTS_CHALLENGE';

/** A 304 to a request that asked no condition. */
export const NOT_MODIFIED = 'ERR_ROBOTS_NOT_MODIFIED';

/** A redirect whose `Location` is missing, empty or no URL. */
export const REDIRECT_LOCATION = 'ERR_ROBOTS_REDIRECT_LOCATION';

/** A redirect to something else than http or https. */
export const REDIRECT_SCHEME = 'ERR_ROBOTS_REDIRECT_SCHEME';

/** More redirects than the profile follows, under a profile that calls this unreachable. */
export const REDIRECT_LIMIT = 'ERR_ROBOTS_REDIRECT_LIMIT';

/** A redirect to a URL already requested in this attempt, under a profile that calls this unreachable. */
export const REDIRECT_LOOP = 'ERR_ROBOTS_REDIRECT_LOOP';

/** A `fetch` that hides redirects (as browsers do), so that the hop cannot be followed or judged. */
export const REDIRECT_OPAQUE = 'ERR_ROBOTS_REDIRECT_OPAQUE';

/** The address policy does not let a hop connect to where its URL, or its name, leads. */
export const ADDRESS_REFUSED = 'ERR_ROBOTS_ADDRESS_REFUSED';

/**
 * Under `'public-only'`: a dispatcher that was set for the whole process, such as a proxy, connects to the host. Which
 * address it chooses cannot be checked.
 */
export const ADDRESS_UNKNOWN = 'ERR_ROBOTS_ADDRESS_UNKNOWN';

/** A proxy refused to pass the request on; the status is the proxy's. */
export const PROXY = 'ERR_ROBOTS_PROXY';

/** A content coding that is unknown, or a body that is no whole coded stream. */
export const CONTENT_CODING = 'ERR_ROBOTS_CONTENT_CODING';

/** Octets behind the end of a coded body: a second gzip member, padding, or anything else. */
export const TRAILING_OCTETS = 'ERR_ROBOTS_TRAILING_OCTETS';

/** A transfer coding other than chunked, which no transport undoes. */
export const TRANSFER_CODING = 'ERR_ROBOTS_TRANSFER_CODING';

/** A 206 with a part of the file: nobody asked for one. */
export const PARTIAL_CONTENT = 'ERR_ROBOTS_PARTIAL_CONTENT';

/** An FTP server closed the control connection before the transfer was confirmed. */
export const FTP_CLOSED = 'ERR_ROBOTS_FTP_CLOSED';

/** An FTP server says more on its control connection than any greeting and notice takes. */
export const FTP_REPLY_LIMIT = 'ERR_ROBOTS_FTP_REPLY_LIMIT';

export type FetchCode =
  | typeof DEADLINE
  | typeof STATUS
  | typeof CHALLENGE
  | typeof NOT_MODIFIED
  | typeof REDIRECT_LOCATION
  | typeof REDIRECT_SCHEME
  | typeof REDIRECT_LIMIT
  | typeof REDIRECT_LOOP
  | typeof REDIRECT_OPAQUE
  | typeof ADDRESS_REFUSED
  | typeof ADDRESS_UNKNOWN
  | typeof PROXY
  | typeof MALFORMED
  | typeof CONTENT_CODING
  | typeof TRAILING_OCTETS
  | typeof TRANSFER_CODING
  | typeof PARTIAL_CONTENT
  | typeof FTP_CLOSED
  | typeof FTP_REPLY_LIMIT
  | typeof FETCH_FAILED;

/** Thrown inside this room only; `fetchRobots` turns it into an outcome. */
export class FetchFailure extends Error {
  override readonly name = 'FetchFailure';
  readonly code: FetchCode;

  constructor(code: FetchCode, options?: ErrorOptions) {
    super(code, options);
    this.code = code;
  }
}
