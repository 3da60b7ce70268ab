import type { Socket } from 'node:net';
import type { Exchange } from './exchange.ts';

/** Maximum number of requests of one connection that are in progress, or whose responses are not read yet. */
const MAX_BEGUN = 16;
/**
 * Maximum number of requests of all connections that wait for their turn. Node reads up to 64 KiB at once, which hold
 * two thousand requests, before it can be told to read no more.
 */
const MAX_WAITING = 4_096;

/** The connections of a server, with the exchanges in progress. */
export class Connections {
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #stalledMs: number;
  readonly #dropped: Connection[] = [];
  #waiting = 0;

  /** @param stalledMs A connection is closed when its peer reads nothing, or a request waits for its turn, for this time. */
  constructor(stalledMs: number) {
    this.#stalledMs = stalledMs;
  }

  of(socket: Socket): Connection {
    let connection = this.#bySocket.get(socket);
    if (connection === undefined) {
      connection = new Connection(socket, this.#stalledMs, (change) => this.#countWaiting(change));
      this.#bySocket.set(socket, connection);
      socket.once('close', () => {
        this.#bySocket.get(socket)?.closed();
        this.#bySocket.delete(socket);
      });
    }
    return connection;
  }

  /** Closes each connection after the responses in progress, without another request. */
  closeAfterResponses(): void {
    for (const connection of this.#bySocket.values()) connection.closeAfterResponses();
  }

  /** Closes the connections without a request in progress: some browsers open one in advance, and send nothing on it. */
  closeUnused(): void {
    for (const connection of this.#bySocket.values()) if (connection.isUnused) connection.destroy();
  }

  /** When too many requests wait, drops the connection that has most of them. */
  #countWaiting(change: number): void {
    this.#waiting += change;
    if (this.#waiting <= MAX_WAITING) return;
    let greediest: Connection | undefined;
    for (const each of this.#bySocket.values()) {
      if (greediest === undefined || each.waiting > greediest.waiting) greediest = each;
    }
    if (greediest === undefined) return;
    greediest.drop();
    this.#dropped.push(greediest);
    if (this.#dropped.length === 1) setImmediate(() => this.#destroyDropped());
  }

  /** Node takes some 30 ms to destroy a connection with a thousand requests, so each turn of the event loop has one. */
  #destroyDropped(): void {
    this.#dropped.shift()?.destroy();
    if (this.#dropped.length > 0) setImmediate(() => this.#destroyDropped());
  }
}

/** One connection. Its requests begin in order, and one in each turn of the event loop: a peer can send many at once. */
export class Connection {
  readonly #socket: Socket;
  readonly #stalledMs: number;
  readonly #countWaiting: (change: number) => void;
  readonly #begun = new Set<Exchange>();
  readonly #waiting: { readonly begin: () => void; readonly since: number }[] = [];
  readonly #unread: NodeJS.Timeout;
  /** Runs while requests wait. */
  #late: NodeJS.Timeout | undefined;
  #isTurnDue = false;
  #isDropped = false;

  constructor(socket: Socket, stalledMs: number, countWaiting: (change: number) => void) {
    this.#socket = socket;
    this.#stalledMs = stalledMs;
    this.#countWaiting = countWaiting;
    // New requests do not count as a sign of life: a peer that sends them may still read nothing.
    this.#unread = setTimeout(() => this.#awaitsPeer && this.destroy(), stalledMs);
    this.#unread.unref();
  }

  /** Calls `respond` for an exchange: at once, or in its turn when others of the connection came before it. */
  add(exchange: Exchange, respond: () => void): void {
    if (this.#isDropped) return;
    const begin = (): void => {
      this.#begun.add(exchange);
      respond();
    };
    if (this.#begun.size === 0 && this.#waiting.length === 0) return begin();
    this.#waiting.push({ begin, since: performance.now() });
    this.#late ??= setTimeout(() => this.#endIfLate(), this.#stalledMs).unref();
    if (this.#waiting.length === MAX_BEGUN) this.#socket.pause();
    this.#countWaiting(1);
    this.#scheduleTurn();
  }

  /** Notes that the whole response was given to the connection. */
  replied(exchange: Exchange): void {
    exchange.isReplied = true;
    // A response after one that is not complete yet cannot be read.
    if (this.#first === exchange) this.#unread.refresh();
  }

  /** Notes that the peer has read a part of a response. */
  wasRead(): void {
    this.#unread.refresh();
  }

  /** Notes that a response was read to its end, so that a waiting request may begin. */
  remove(exchange: Exchange): void {
    this.#begun.delete(exchange);
    exchange.leave();
    this.wasRead();
    this.#scheduleTurn();
  }

  closeAfterResponses(): void {
    for (const exchange of this.#begun) exchange.closeAfterResponse();
  }

  /** Takes no more requests. */
  drop(): void {
    this.#isDropped = true;
    this.#forgetWaiting();
    this.#socket.pause();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  closed(): void {
    clearTimeout(this.#unread);
    clearTimeout(this.#late);
    this.#forgetWaiting();
    // A pipelined response that waits for its turn emits no `close` when the connection closes.
    for (const exchange of this.#begun) exchange.leave();
  }

  get isUnused(): boolean {
    return this.#begun.size === 0 && this.#waiting.length === 0;
  }

  /** Number of requests that wait for their turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Begins one request in the next turn of the event loop, so that every connection has its turn. */
  #scheduleTurn(): void {
    if (this.#isTurnDue || this.#waiting.length === 0 || this.#begun.size >= MAX_BEGUN) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#countWaiting(-1);
      if (this.#waiting.length === MAX_BEGUN - 1) this.#socket.resume();
      next.begin();
      this.#scheduleTurn();
    });
  }

  /** Sites that respond late must not keep open a connection that sends ever more questions about them. */
  #endIfLate(): void {
    this.#late = undefined;
    const [first] = this.#waiting;
    if (first === undefined) return;
    const remainingMs = first.since + this.#stalledMs - performance.now();
    if (remainingMs <= 0) this.destroy();
    else this.#late = setTimeout(() => this.#endIfLate(), remainingMs).unref();
  }

  #forgetWaiting(): void {
    this.#countWaiting(-this.#waiting.length);
    this.#waiting.length = 0;
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
