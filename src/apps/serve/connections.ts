import type { Socket } from 'node:net';
import type { Exchange } from './exchange.ts';

/** Maximum number of requests of one connection that are being answered, or whose answers are not read yet. */
const MAX_BEGUN = 16;
/**
 * Maximum number of requests of all connections that wait for their turn. Node reads up to 64 KiB at once, which hold
 * two thousand requests, before it can be told to read no more.
 */
const MAX_WAITING = 4_096;

/** The connections of a server, with the exchanges in progress. */
export class Connections {
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #unreadMs: number;
  #waiting = 0;

  /** @param unreadMs A connection is closed when its peer reads nothing of an answer for so long. */
  constructor(unreadMs: number) {
    this.#unreadMs = unreadMs;
  }

  of(socket: Socket): Connection {
    let connection = this.#bySocket.get(socket);
    if (connection === undefined) {
      connection = new Connection(socket, this.#unreadMs, (change) => this.#mayWait(change));
      this.#bySocket.set(socket, connection);
      socket.once('close', () => {
        this.#bySocket.get(socket)?.closed();
        this.#bySocket.delete(socket);
      });
    }
    return connection;
  }

  /** Closes each connection after the answers in progress, without another request. */
  endAfterwards(): void {
    for (const connection of this.#bySocket.values()) connection.endAfterwards();
  }

  /** Counts the requests that wait. Returns whether there is room for them. */
  #mayWait(change: number): boolean {
    this.#waiting += change;
    return this.#waiting <= MAX_WAITING;
  }
}

/** One connection. Its requests are begun in their order, and a few at a time: a peer can send many at once. */
export class Connection {
  readonly #socket: Socket;
  readonly #mayWait: (change: number) => boolean;
  readonly #begun = new Set<Exchange>();
  readonly #waiting: (() => void)[] = [];
  readonly #unread: NodeJS.Timeout;
  #isTurnDue = false;

  constructor(socket: Socket, unreadMs: number, mayWait: (change: number) => boolean) {
    this.#socket = socket;
    this.#mayWait = mayWait;
    // New requests do not count as a sign of life: whoever sends them may read nothing all the same.
    this.#unread = setTimeout(() => this.#awaitsPeer && socket.destroy(), unreadMs);
    this.#unread.unref();
  }

  /** Calls `answer` for an exchange, at once or when enough of the answers before it have been read. */
  add(exchange: Exchange, answer: () => void): void {
    const begin = (): void => {
      this.#begun.add(exchange);
      answer();
    };
    if (this.#begun.size < MAX_BEGUN && this.#waiting.length === 0) return begin();
    this.#socket.pause();
    this.#waiting.push(begin);
    if (!this.#mayWait(1)) this.#socket.destroy();
  }

  /** Notes that the whole answer was given to the connection. */
  replied(exchange: Exchange): void {
    exchange.isReplied = true;
    // An answer behind one that is still being made cannot be read yet.
    if (this.#first === exchange) this.#unread.refresh();
  }

  /** Notes that the peer has read a part of an answer. */
  wasRead(): void {
    this.#unread.refresh();
  }

  /** Notes that an answer was read to its end, so that a request that waits may begin. */
  remove(exchange: Exchange): void {
    this.#begun.delete(exchange);
    exchange.leave();
    this.wasRead();
    if (this.#waiting.length === 0 || this.#isTurnDue) return;
    this.#isTurnDue = true;
    // Other connections have their turn in between.
    setImmediate(() => this.#beginWaiting());
  }

  #beginWaiting(): void {
    this.#isTurnDue = false;
    const begun = this.#waiting.splice(0, MAX_BEGUN - this.#begun.size);
    this.#mayWait(-begun.length);
    if (this.#waiting.length === 0) this.#socket.resume();
    for (const begin of begun) begin();
  }

  endAfterwards(): void {
    for (const exchange of this.#begun) exchange.endAfterwards();
  }

  closed(): void {
    clearTimeout(this.#unread);
    this.#mayWait(-this.#waiting.length);
    this.#waiting.length = 0;
    // A pipelined response that waits for its turn emits no `close` when the connection closes.
    for (const exchange of this.#begun) exchange.leave();
  }

  get #first(): Exchange | undefined {
    const [first] = this.#begun;
    return first;
  }

  /** Whether nothing happens until the peer reads. */
  get #awaitsPeer(): boolean {
    return this.#first?.isReplied === true;
  }
}
