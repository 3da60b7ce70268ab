/** Callbacks for a stream that makes no progress. */
interface StallHandlers {
  /** Called when no complete question arrived, and no question waits for its answer. */
  readonly onSilent: () => void;
  /** Called when the requester does not read the answers. */
  readonly onUnread: () => void;
}

/**
 * Ends a stream of questions that makes no progress for `limitMs`. Only complete questions count as progress, because
 * a stream that sends single octets occupies its place like a silent one. Waiting for answers does not end a stream,
 * because that time is spent by this service.
 */
export class StreamProgress {
  readonly #timer: NodeJS.Timeout;
  #unanswered = 0;
  #isWriting = false;

  constructor(limitMs: number, { onSilent, onUnread }: StallHandlers) {
    this.#timer = setTimeout(() => {
      if (this.#isWriting) onUnread();
      else if (this.#unanswered === 0) onSilent();
      else this.#timer.refresh();
    }, limitMs);
  }

  /** Notes that a question arrived. */
  asked(): void {
    this.#unanswered++;
    // Questions are no sign that the answers are read.
    if (!this.#isWriting) this.#timer.refresh();
  }

  /** Waits for `write`, which resolves when the output has room for more, and then counts its `answers` as answered. */
  async written(write: Promise<void>, answers: number): Promise<void> {
    this.#isWriting = true;
    this.#timer.refresh();
    await write;
    this.#isWriting = false;
    this.#unanswered -= answers;
    this.#timer.refresh();
  }

  /** Stops the timer when the stream has ended. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
