import type { ReportedDecision } from '../target-result.ts';
import { printable } from '../../../core/base/printable.ts';
import { count } from './durations.ts';

/**
 * Descriptions of error codes. The code is shown with the description, so that people can search for it. The page of the
 * service has words of its own for the same codes (`serve/page/texts.js`).
 */
export const fetchErrors: Readonly<Record<string, string>> = {
  ERR_ROBOTS_DEADLINE: 'no complete response within the deadline',
  ERR_ROBOTS_NOT_MODIFIED: 'the site says that its copy is unchanged, but was asked for the file',
  ERR_ROBOTS_NO_FTP_TRANSPORT: 'there is no FTP transport',
  ERR_ROBOTS_REDIRECT_LOCATION: 'it redirects to an invalid URL',
  ERR_ROBOTS_REDIRECT_SCHEME: 'it redirects to a scheme other than http and https',
  ERR_ROBOTS_REDIRECT_OPAQUE: 'it redirects, and does not say where to',
  ERR_ROBOTS_REDIRECT_LIMIT: 'it redirects too many times',
  ERR_ROBOTS_REDIRECT_LOOP: 'it redirects in a circle',
  ERR_ROBOTS_ADDRESS_REFUSED: 'it redirects from a public to a private address',
  ERR_ROBOTS_ADDRESS_UNKNOWN: 'only public addresses are allowed, and the address behind a proxy is unknown',
  ERR_ROBOTS_PROXY: 'a proxy refused to pass the request on',
  ERR_ROBOTS_CHALLENGE: 'a gatekeeper answered instead of the site',
  ERR_ROBOTS_CONTENT_CODING: 'its body cannot be decoded',
  ERR_ROBOTS_TRAILING_BYTES: 'extra bytes follow its coded body',
  ERR_ROBOTS_TRANSFER_CODING: 'its body has a transfer coding other than chunked',
  ERR_ROBOTS_PARTIAL_CONTENT: 'only a part of the file arrived',
  ERR_ROBOTS_NOT_TEXT: 'its body is not text',
  ERR_ROBOTS_MALFORMED: 'what it sent is not valid HTTP or FTP',
  ERR_ROBOTS_FETCH_FAILED: 'the connection failed',
  ERR_ROBOTS_FTP_CLOSED: 'the FTP server closed the connection',
  ERR_ROBOTS_FTP_REPLY_LIMIT: 'the FTP server replied with more than is read',
  ENOTFOUND: 'the host name does not resolve',
  EAI_AGAIN: 'the host name cannot be resolved for now',
  ESERVFAIL: 'the name servers of the host failed',
  ETIMEOUT: 'the name servers of the host did not answer',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the connection was closed without an answer',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  CERT_HAS_EXPIRED: 'the certificate has expired',
};

/** Describes the outcome of the fetch of robots.txt: a status, a failure, or both. */
export function cause(robots: ReportedDecision['robots']): string {
  if (!('finalUrl' in robots)) return printable(robots.file);
  const { status, error, hops } = robots;
  const failure = error === undefined || error === 'ERR_ROBOTS_STATUS' ? undefined : inWords(error);
  if (status === undefined) return failure ?? 'no answer';
  const way = status >= 300 && status < 400 && hops > 0 ? ` after ${count(hops, 'redirect')}` : '';
  return failure === undefined ? `${status}${way}` : `${status}${way}, ${failure}`;
}

function inWords(code: string): string {
  const text = fetchErrors[code];
  return text === undefined ? printable(code) : `${text}, ${code}`;
}
