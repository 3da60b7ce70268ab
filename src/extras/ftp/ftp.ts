import { abortSignalOf, assertKnownOptions, invalid } from '../../core/base/index.ts';
import { loadPeer } from '../../core/base/optional-peer.ts';
import type { StatusClass } from '../../core/lifecycle/index.ts';
import { publicOnlyLookup } from '../../core/net/index.ts';
import { productToken } from '../../core/rules/index.ts';
import { FetchFailure, STATUS } from '../../core/fetch/failure.ts';
import type {
  ResponseHeaders,
  Transport,
  TransportRequest,
  TransportResponse,
} from '../../core/fetch/transport.ts';
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
  const { password } = readOptions(options);
  const load = (): typeof BasicFtp => createRequire(import.meta.url)('basic-ftp');
  return new OverBasicFtp(loadPeer('basic-ftp', 'canfetch/ftp', load), password);
}

class OverBasicFtp implements Transport {
  readonly #library: typeof BasicFtp;
  readonly #password: string | undefined;

  constructor(library: typeof BasicFtp, password: string | undefined) {
    this.#library = library;
    this.#password = password;
  }

  async request(
    url: URL,
    { signal, headers, lookup = dnsLookup, publicOnly }: TransportRequest,
  ): Promise<TransportResponse> {
    signal.throwIfAborted();
    const session = new FtpSession({
      library: this.#library,
      signal: abortSignalOf(signal),
      lookup: publicOnly ? publicOnlyLookup(lookup) : lookup,
    });
    try {
      // Resolves the host once. The data connection goes to the address of the control connection.
      const { hostname, port } = url;
      await session.connect(hostname.replace(/^\[(.*)\]$/, '$1'), port === '' ? 21 : Number(port));
      await session.login(this.#password ?? passwordFrom(headers['user-agent']));
      await session.setBinary();
      await session.openDataConnection();
    } catch (error) {
      return refused(session, error, 'unreachable');
    }
    try {
      return new FtpResponse(session, TRANSFERRED, 'rules', await session.retrieve(url.pathname));
    } catch (error) {
      // 550 is about the file only in reply to RETR.
      const isFile = error instanceof FtpReplyError && error.reply === FILE_UNAVAILABLE;
      return refused(session, error, isFile ? 'unavailable' : 'unreachable');
    }
  }
}

function refused(session: FtpSession, error: unknown, meaning: FtpMeaning): TransportResponse {
  session.close();
  if (error instanceof FtpReplyError) return new FtpResponse(session, error.reply, meaning);
  throw error;
}

type FtpMeaning = Exclude<StatusClass, 'restricted'>;

class FtpResponse implements TransportResponse {
  status: number;
  readonly meaning: FtpMeaning;
  readonly headers: ResponseHeaders = { get: () => undefined };
  readonly body: AsyncIterable<Uint8Array>;
  readonly #session: FtpSession;

  constructor(session: FtpSession, status: number, meaning: FtpMeaning, retrieval?: FtpRetrieval) {
    this.#session = session;
    this.status = status;
    this.meaning = meaning;
    this.body = this.#bytes(retrieval);
  }

  discard(): void {
    this.#session.close();
  }

  async *#bytes(retrieval: FtpRetrieval | undefined): AsyncGenerator<Uint8Array> {
    if (retrieval === undefined) return;
    try {
      yield* retrieval.bytes;
      await retrieval.confirmed;
    } catch (error) {
      if (!(error instanceof FtpReplyError)) throw error;
      this.status = error.reply;
      throw new FetchFailure(STATUS, { cause: error });
    } finally {
      this.#session.close();
    }
  }
}

function readOptions(options: FtpTransportOptions): FtpTransportOptions {
  assertKnownOptions(options, ['password']);
  const { password } = options;
  if (password !== undefined && !(typeof password === 'string' && /^[\x20-\x7e]+$/.test(password))) {
    throw invalid('`password`', 'text in printable ASCII, such as "bot@example.com"', password);
  }
  return options;
}

function passwordFrom(userAgent: string | undefined): string {
  return `${(userAgent === undefined ? undefined : productToken(userAgent)) ?? 'canfetch'}@`;
}
