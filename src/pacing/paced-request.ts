import type { Decision } from '../decision/index.ts';
import { RobotsDeferredError } from './deferred.ts';

/** A slot that a request of this process waits for. */
export interface Ticket {
  /** The earliest time for the request, as known at `now`; `undefined` when the slot is lost. */
  dueAt(now: number): number | undefined;
  /** Call when the request leaves. Only when `dueAt(now)` is not later than `now`. */
  leave(now: number): void;
  /** Gives the slot back. */
  release(): void;
}

/** No slot was booked. The next one, at `retryAt` in epoch ms, is further away than the request may wait. */
export interface NoTicket {
  readonly retryAt: number;
}

/** The parts of the pacer that a request needs. */
export interface PacedRequestContext {
  readonly decision: Decision;
  readonly maxWaitMs: number;
  readonly now: () => number;
  /** Books synchronously, unless the fleet has to be asked. Rejects only with the reason of `signal`. */
  readonly book: (signal: AbortSignal | undefined) => Ticket | NoTicket | Promise<Ticket | NoTicket>;
  /** Rejects with the reason of `signal`, or when the pacer is closed. */
  readonly sleepUntil: (at: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Called with the answer to the request, once. */
  readonly onAnswer: (answer: PageAnswer) => void;
  /** Called before the request is deferred until `retryAt`, in epoch ms. */
  readonly onDeferral: (retryAt: number) => void;
}

/** A slot whose time has come, for a request that is about to leave. */
export interface TakenSlot {
  /** Milliseconds that the request waited for its slot. */
  readonly waitedMs: number;
  /**
   * Whether the request may leave now. If `true`, it must be sent synchronously. `false` when another request to the
   * origin left meanwhile.
   */
  leaveNow(): boolean;
  /**
   * Resolves when the request may leave. Once it has left, further calls resolve at once.
   *
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), or the reason of an aborted signal.
   */
  leave(signal?: AbortSignal): Promise<void>;
  /** Gives the slot back when the request is not made. No effect once the request has left. */
  release(): void;
  /**
   * The header fields of the answer have come, and its body is still read. A 429 or 503 pauses the origin from now on.
   * For a guard that sees the end of the body; others call {@link done} alone.
   */
  answered(answer: PageAnswer): void;
  /**
   * The request has ended: with an answer, or without one when it failed or was aborted. Frees its place. Further
   * calls have no effect.
   */
  done(answer?: PageAnswer): void;
}

/** The answer to a request, as far as pacing needs it. */
export interface PageAnswer {
  /** The status code. 429 and 503 ask for a pause. */
  readonly status?: number;
  /** The header fields, of which `Retry-After` is read: `Headers`, or an object with names in lower case. */
  readonly headers?:
    | { get(name: string): string | null | undefined }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A request that waits for its slot, and for a new one if the process missed it. */
export class PacedRequest implements TakenSlot {
  private readonly context: PacedRequestContext;
  private readonly since: number;
  private ticket: Ticket | undefined;
  private hasLeft = false;
  private isAnswered = false;
  waitedMs = 0;

  constructor(context: PacedRequestContext) {
    this.context = context;
    this.since = context.now();
  }

  /**
   * Resolves when the slot has come.
   *
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), or the reason of an aborted signal.
   */
  async waitForSlot(signal: AbortSignal | undefined): Promise<void> {
    await this.whenDue(signal);
    this.waitedMs = this.context.now() - this.since;
  }

  async leave(signal?: AbortSignal): Promise<void> {
    while (!this.leaveNow()) await this.whenDue(signal);
  }

  leaveNow(): boolean {
    if (this.hasLeft) return true;
    const { ticket } = this;
    const now = this.context.now();
    if (ticket === undefined || !isDue(ticket, now)) return false;
    ticket.leave(now);
    this.ticket = undefined;
    this.hasLeft = true;
    return true;
  }

  release(): void {
    this.ticket?.release();
    this.ticket = undefined;
  }

  answered(answer: PageAnswer): void {
    if (!this.hasLeft || this.isAnswered) return;
    this.isAnswered = true;
    this.context.onAnswer(answer);
  }

  done(answer: PageAnswer = {}): void {
    this.answered(answer);
    this.isAnswered = true;
    this.release();
  }

  private deferral(retryAt: number): RobotsDeferredError {
    this.context.onDeferral(retryAt);
    return new RobotsDeferredError(this.context.decision, retryAt);
  }

  private async whenDue(signal: AbortSignal | undefined): Promise<void> {
    const { maxWaitMs, now: clock, book, sleepUntil } = this.context;
    for (;;) {
      signal?.throwIfAborted();
      if (this.ticket === undefined) {
        const booking = book(signal);
        const booked = booking instanceof Promise ? await booking : booking;
        if ('retryAt' in booked) throw this.deferral(booked.retryAt);
        this.ticket = booked;
      }
      const now = clock();
      const dueAt = this.ticket.dueAt(now);
      if (dueAt === undefined) {
        this.ticket = undefined;
        continue;
      }
      if (dueAt <= now) return;
      if (dueAt - now > maxWaitMs) {
        this.release();
        throw this.deferral(dueAt);
      }
      try {
        await sleepUntil(dueAt, signal);
      } catch (error) {
        this.release();
        throw error;
      }
    }
  }
}

function isDue(ticket: Ticket, now: number): boolean {
  const dueAt = ticket.dueAt(now);
  return dueAt !== undefined && dueAt <= now;
}
