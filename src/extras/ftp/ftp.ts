import { abortSignalOf, assertKnownOptions, invalid, loadPeer } from '../../core/base/index.ts';
import type { StatusClass } from '../../core/lifecycle/index.ts';
import { publicOnlyLookup } from '../../core/net/connectors.ts';
import { productToken } from '../../core/rules/index.ts';
import { FetchFailure, STATUS } from '../../core/fetch/failure.ts';
import type { Transport, TransportResponse } from '../../core/fetch/transport.ts';
import { FtpReplyError, type FtpRetrieval, FtpSession } from './ftp-session.ts';
import type * as BasicFtp from 'basic-ftp';
import { lookup as dnsLookup } from 'node:dns';
import { createRequire } from 'node:module';

export type { LightAbortSignal } from '../../core/base/index.ts';
export type {
  ResponseHeaders,
  Transport as FtpTransport,
  TransportRequest,
  TransportResponse,
} from '../../core/fetch/transport.ts';

export interface FtpTransportOptions {
  /**
   * Password of the anonymous login. By custom it is an e-mail address, so that the server's log shows who came.
   * @default the product token of the client's agent, followed by `@`
   */
  readonly password?: string;
}

/** RFC 959 §4.2: "226 Closing data connection. Requested file action successful". */
const TRANSFERRED = 226;
/** RFC 959 §4.2: "550 Requested action not taken. File unavailable (e.g., file not found, no access)." */
const FILE_UNAVAILABLE = 550;

/**
 * Makes the transport for `ftp:` origins, given to the client as `ftp`. It uses the package `basic-ftp`: an anonymous
 * login, then `RETR /robots.txt` over a data connection to the address of the control connection.
 *
 * A missing file (550) is *unavailable*: everything is allowed. Any other refusal, a refused login and network
 * trouble are *unreachable*. `decision.robots.status` is the code of the FTP reply.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when `basic-ftp` is not installed, or for a
 * password that no FTP command can carry.
 *
 * @example
 * ```ts
 * import { RobotsClient } from 'canfetch';
 * import { ftpTransport } from 'canfetch/ftp';
 *
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0', ftp: ftpTransport({ password: 'bot@example.com' }) });
 * await robots.canFetch('ftp://ftp.example.com/pub/file');
 * ```
 */
export function ftpTransport(options: FtpTransportOptions = {}): Transport {
  assertKnownOptions(options, ['password']);
  const { password } = options;
  if (password !== undefined && !(typeof password === 'string' && /^[\x20-\x7e]+$/.test(password))) {
    throw invalid('`password`', 'text in printable ASCII, such as "bot@example.com"', password);
  }
  const load = (): typeof BasicFtp => createRequire(import.meta.url)('basic-ftp');
  const library = loadPeer('basic-ftp', 'canfetch/ftp', load);
  return {
    async request({ hostname, port, pathname }, { signal, headers, lookup = dnsLookup, publicOnly }) {
      signal.throwIfAborted();
      const session = new FtpSession({
        library,
        signal: abortSignalOf(signal),
        lookup: publicOnly ? publicOnlyLookup(lookup) : lookup,
      });
      try {
        // Resolves the host once. The data connection goes to the address of the control connection.
        const host = hostname.replace(/^\[(.*)\]$/, '$1');
        const login = password ?? passwordFrom(headers['user-agent']);
        await session.open(host, port === '' ? 21 : Number(port), login);
      } catch (error) {
        return refused(session, error, 'unreachable');
      }
      try {
        return responseOf(session, TRANSFERRED, 'rules', await session.retrieve(pathname));
      } catch (error) {
        // 550 is about the file only in reply to RETR.
        const isFile = error instanceof FtpReplyError && error.reply === FILE_UNAVAILABLE;
        return refused(session, error, isFile ? 'unavailable' : 'unreachable');
      }
    },
  };
}

type FtpMeaning = Exclude<StatusClass, 'restricted'>;

function refused(session: FtpSession, error: unknown, meaning: FtpMeaning): TransportResponse {
  session.close();
  if (error instanceof FtpReplyError) return responseOf(session, error.reply, meaning);
  throw error;
}

function responseOf(
  session: FtpSession,
  status: number,
  meaning: FtpMeaning,
  retrieval?: FtpRetrieval,
): TransportResponse {
  const response = {
    status,
    meaning,
    headers: { get: () => undefined },
    body: bytes(),
    discard: () => session.close(),
  };
  async function* bytes(): AsyncGenerator<Uint8Array> {
    if (retrieval === undefined) return;
    try {
      yield* retrieval.bytes;
      await retrieval.confirmed;
    } catch (error) {
      if (!(error instanceof FtpReplyError)) throw error;
      response.status = error.reply;
      throw new FetchFailure(STATUS, { cause: error });
    } finally {
      session.close();
    }
  }
  return response;
}

function passwordFrom(userAgent: string | undefined): string {
  return `${(userAgent === undefined ? undefined : productToken(userAgent)) ?? 'canfetch'}@`;
}
