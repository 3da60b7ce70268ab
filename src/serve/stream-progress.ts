/** What becomes of a stream that makes no progress. */
interface Stalled {
  /** No whole question came, and none waits for its answer. */
  readonly onSilent: () => void;
  /** Nobody reads the answers. */
  readonly onUnread: () => void;
}

/**
 * Ends a stream of questions that makes no progress for so long. Whole questions count, not octets: a stream that
 * trickles holds its place as well as one that is silent. The time that answers take is ours, and ends no stream.
 */
export class StreamProgress {
  readonly #timer: NodeJS.Timeout;
  #unanswered = 0;
  #isWriting = false;

  constructor(limitMs: number, { onSilent, onUnread }: Stalled) {
    this.#timer = setTimeout(() => {
      if (this.#isWriting) onUnread();
      else if (this.#unanswered === 0) onSilent();
      else this.#timer.refresh();
    }, limitMs);
  }

  /** A question came. */
  asked(): void {
    this.#unanswered++;
    this.#timer.refresh();
  }

  /** Writes so many answers, or what comes after the last one; `write` resolves when there is room for more. */
  async written(write: Promise<void>, answers: number): Promise<void> {
    this.#isWriting = true;
    this.#timer.refresh();
    await write;
    this.#isWriting = false;
    this.#unanswered -= answers;
    this.#timer.refresh();
  }

  /** The stream has ended. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
