import { FetchFailure, FTP_CLOSED, MALFORMED, FTP_REPLY_LIMIT } from '../../core/fetch/failure.ts';
import type * as BasicFtp from 'basic-ftp';
import { isIP, isIPv4, type LookupFunction, Socket } from 'node:net';

/** Bytes that greeting, notices and replies may take together. Real servers send a few thousand. */
const MAX_BYTES = 32_768;

/** Chunks that the control connection may take: each one costs work, however small it is. */
const MAX_PIECES = 1_024;

const LF = 0x0a;

/**
 * A control connection that passes on whole lines, and ends when the server sends too much. The library takes every
 * chunk for whole lines, and limits single replies only.
 */
export class ControlSocket extends Socket {
  #bytes = 0;
  #pieces = 0;
  /** The incomplete last line. */
  #rest: Buffer = Buffer.alloc(0);

  /** Receives each chunk that arrives, and null at the end. */
  override push(piece: Buffer | null): boolean {
    // A line that the end of the connection truncates is not a reply.
    if (piece === null) return super.push(null);
    this.#bytes += piece.byteLength;
    this.#pieces += 1;
    if (this.#bytes > MAX_BYTES || this.#pieces > MAX_PIECES) {
      this.destroy(new FetchFailure(FTP_REPLY_LIMIT));
      return false;
    }
    const text = this.#rest.byteLength === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const end = text.lastIndexOf(LF) + 1;
    this.#rest = text.subarray(end);
    return end === 0 || super.push(text.subarray(0, end));
  }
}

/** An FTP reply other than the expected one. RFC 959 §4.2 defines the codes. */
export class FtpReplyError extends Error {
  override readonly name = 'FtpRefusal';
  readonly reply: number;

  constructor(reply: number) {
    super(`The FTP server replied ${reply}`);
    this.reply = reply;
  }
}

/** A file transfer. */
export interface FtpRetrieval {
  /** The bytes of the file. They end, or break, with the data connection. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Resolves when the server confirms that the file is complete; rejects on any other reply. */
  readonly confirmed: Promise<unknown>;
}

export interface FtpSessionOptions {
  readonly library: typeof BasicFtp;
  /** Aborts both connections. */
  readonly signal: AbortSignal;
  readonly lookup: LookupFunction | undefined;
}

/**
 * One control connection, and one data connection to the same address. The library handles the commands. This class
 * limits the length of replies, and fixes the address of the data connection.
 */
export class FtpSession {
  readonly #client: BasicFtp.Client;
  readonly #options: FtpSessionOptions;
  #data: Socket | undefined;

  constructor(options: FtpSessionOptions) {
    this.#options = options;
    // The deadline of the attempt replaces the library's timers.
    this.#client = new options.library.Client(0);
  }

  /** Connects, logs in as anonymous, and opens the data connection. */
  async open(host: string, port: number, password: string): Promise<void> {
    const { ftp } = this.#client;
    const socket = new ControlSocket({ signal: this.#options.signal });
    // Added before the library's own listener, whose error has no code.
    socket.once('end', () => ftp.closeWithError(new FetchFailure(FTP_CLOSED)));
    ftp.socket = socket;
    this.#dial(socket, host, port);
    completed(await this.#reply(undefined));
    const user = await this.#reply('USER anonymous');
    completed(user.code === 331 ? await this.#reply(`PASS ${password}`) : user);
    // Image type: bytes are sent unchanged.
    completed(await this.#reply('TYPE I'));
    // To the address of the control connection, whatever host PASV names: that address has been looked up and checked.
    const address = socket.remoteAddress;
    if (address === undefined) throw new FetchFailure(FTP_CLOSED);
    const dataPort = await this.#passivePort(address);
    const data = new Socket({ signal: this.#options.signal });
    this.#data = data;
    await new Promise<void>((resolve, reject) => {
      data.once('connect', resolve).on('error', reject);
      this.#dial(data, address, dataPort);
    });
  }

  /** Resolves when the server starts to send the file; rejects when it refuses. Call it after {@link open}. */
  async retrieve(path: string): Promise<FtpRetrieval> {
    const bytes = this.#data;
    if (bytes === undefined) throw new FetchFailure(FTP_CLOSED);
    let confirmed: Promise<unknown> = Promise.resolve();
    await new Promise<void>((begin, refuse) => {
      confirmed = this.#client.ftp.handle(`RETR ${path}`, (response, task) => {
        const reply = this.#read(response);
        if (reply instanceof Error) return task.reject(reply);
        if (reply.code >= 300) return task.reject(new FtpReplyError(reply.code));
        begin();
        if (reply.code >= 200) task.resolve(reply);
      });
      confirmed.catch((error: unknown) => {
        refuse(error);
        bytes.destroy(error instanceof Error ? error : new FetchFailure(FTP_CLOSED, { cause: error }));
      });
    });
    return { bytes, confirmed };
  }

  close(): void {
    this.#client.close();
    this.#data?.destroy();
  }

  /** Sends a command and waits for its final reply, positive or negative. */
  #reply(command: string | undefined): Promise<BasicFtp.FTPResponse> {
    return this.#client.ftp.handle(command, (response, task) => {
      const reply = this.#read(response);
      if (reply instanceof Error) task.reject(reply);
      // RFC 959 §4.2, of 1yz: "The requested action is being initiated; expect another reply before proceeding".
      else if (reply.code >= 200) task.resolve(reply);
    });
  }

  /** Converts what the library passes: a reply, or an error. */
  #read(response: Error | BasicFtp.FTPResponse): BasicFtp.FTPResponse | Error {
    if (response instanceof Error && !(response instanceof this.#options.library.FTPError)) return response;
    const { code, message } = response;
    // RFC 959 §4.2 knows first digits from 1 to 5.
    return code >= 100 && code < 600 ? { code, message } : new FetchFailure(MALFORMED);
  }

  async #passivePort(host: string): Promise<number> {
    const extended = await this.#reply('EPSV');
    if (isCompletion(extended.code)) return portOfEpsv(extended.message);
    // An older server does not know EPSV. PASV carries only the four bytes of an IPv4 address.
    if (extended.code < 500 || !isIPv4(host.replace(/^::ffff:/, ''))) throw new FtpReplyError(extended.code);
    const passive = await this.#reply('PASV');
    return portOfPasv(completed(passive).message);
  }

  /** Opens a connection, control or data. A host name goes through the lookup. */
  #dial(socket: Socket, host: string, port: number): void {
    const { lookup } = this.#options;
    socket.connect({ host, port, ...(lookup === undefined || isIP(host) !== 0 ? {} : { lookup }) });
  }
}

function isCompletion(code: number): boolean {
  return code >= 200 && code < 300;
}

function completed(reply: BasicFtp.FTPResponse): BasicFtp.FTPResponse {
  if (!isCompletion(reply.code)) throw new FtpReplyError(reply.code);
  return reply;
}

/** RFC 2428 §3: "(<d><d><d><tcp-port><d>)". */
function portOfEpsv(message: string): number {
  return portFrom(/\(([\x21-\x7e])\1\1(\d{1,5})\1\)/.exec(message)?.[2]);
}

/** RFC 1123 §4.1.2.6: the reply is scanned "for the first digit of the host and port numbers". */
function portOfPasv(message: string): number {
  const numbers = /(?<!\d)(?:\d{1,3},){4}(\d{1,3}),(\d{1,3})(?!\d)/.exec(message.slice(3));
  const [high, low] = [Number(numbers?.[1]), Number(numbers?.[2])];
  return portFrom(high <= 255 && low <= 255 ? String(high * 256 + low) : undefined);
}

function portFrom(digits: string | undefined): number {
  const port = Number(digits);
  if (!(port >= 1 && port <= 65_535)) throw new FetchFailure(MALFORMED);
  return port;
}
