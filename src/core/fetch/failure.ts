import { FETCH_FAILED, MALFORMED } from '../base/index.ts';

export { FETCH_FAILED, MALFORMED };

/**
 * Error codes of this module. Codes of Node and undici (`ENOTFOUND`, `UND_ERR_SOCKET`, …) are passed through unchanged.
 */

/** The whole attempt, with all redirects and the body, took longer than the deadline. */
export const DEADLINE = 'ERR_ROBOTS_DEADLINE';

/** The profile reads the status of the last response as unreachable. */
export const STATUS = 'ERR_ROBOTS_STATUS';

/** A challenge or a block page came instead of robots.txt, and the profile reads it as unreachable. */
export const CHALLENGE = 'ERR_ROBOTS_CHALLENGE';

/** A 304 to a request without conditional headers. */
export const NOT_MODIFIED = 'ERR_ROBOTS_NOT_MODIFIED';

/** A redirect whose `Location` is missing, empty or not a URL. */
export const REDIRECT_LOCATION = 'ERR_ROBOTS_REDIRECT_LOCATION';

/** A redirect to a scheme other than http or https. */
export const REDIRECT_SCHEME = 'ERR_ROBOTS_REDIRECT_SCHEME';

/** More redirects than the profile follows, and the profile reads that as unreachable. */
export const REDIRECT_LIMIT = 'ERR_ROBOTS_REDIRECT_LIMIT';

/** A redirect to a URL already requested in this attempt, and the profile reads that as unreachable. */
export const REDIRECT_LOOP = 'ERR_ROBOTS_REDIRECT_LOOP';

/** A `fetch` that hides redirects, as browsers do, so that none can be followed or checked. */
export const REDIRECT_OPAQUE = 'ERR_ROBOTS_REDIRECT_OPAQUE';

/** The address policy refuses the address of the request, or of a redirect. */
export const ADDRESS_REFUSED = 'ERR_ROBOTS_ADDRESS_REFUSED';

/**
 * Under `'public-only'`: the request goes over a dispatcher set for the whole process, such as a proxy. The address
 * that it connects to cannot be checked.
 */
export const ADDRESS_UNKNOWN = 'ERR_ROBOTS_ADDRESS_UNKNOWN';

/** A proxy refused to forward the request. The status is the proxy's. */
export const PROXY = 'ERR_ROBOTS_PROXY';

/** The site speaks HTTP/2 only, which `dispatcher: new Agent({ allowH2: true })` of undici does. */
export const HTTP2_ONLY = 'ERR_ROBOTS_HTTP2_ONLY';

/** An unknown content coding, or a body that is not one whole coded stream. */
export const CONTENT_CODING = 'ERR_ROBOTS_CONTENT_CODING';

/** Bytes after the end of a coded body, such as padding. */
export const TRAILING_BYTES = 'ERR_ROBOTS_TRAILING_BYTES';

/** A transfer coding other than chunked. No transport undoes it. */
export const TRANSFER_CODING = 'ERR_ROBOTS_TRANSFER_CODING';

/** A 206 with a part of the file, although no range was requested; or fewer bytes than `Content-Length` says. */
export const PARTIAL_CONTENT = 'ERR_ROBOTS_PARTIAL_CONTENT';

/** A success whose body cannot be text: an archive, an image, UTF-16 without its mark. */
export const NOT_TEXT = 'ERR_ROBOTS_NOT_TEXT';

/** An FTP server closed the control connection before the transfer was confirmed. */
export const FTP_CLOSED = 'ERR_ROBOTS_FTP_CLOSED';

/** An FTP server sent more on its control connection than any greeting and notice needs. */
export const FTP_REPLY_LIMIT = 'ERR_ROBOTS_FTP_REPLY_LIMIT';

/** Thrown inside this module only. `fetchRobots` turns it into an outcome. */
export class FetchFailure extends Error {
  override readonly name = 'FetchFailure';
  /** One of the codes above. */
  readonly code: string;

  constructor(code: string, options?: ErrorOptions) {
    super(code, options);
    this.code = code;
  }
}
