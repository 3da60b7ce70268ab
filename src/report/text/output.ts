import type { Sink } from '../session.ts';

/** Whoever read the output has gone (`canfetch … | head -1`): there is no one left to work for. */
export class BrokenPipeError extends Error {
  override readonly name = 'BrokenPipeError';
}

/** Writes to a stream no faster than it is read, and tells when nobody reads it any more. */
export class Output {
  private readonly sink: Sink;
  private failure: Error | undefined;
  private wake: (() => void) | undefined;

  constructor(sink: Sink) {
    this.sink = sink;
    sink.on('error', this.onError);
    sink.on('close', this.onClose);
    sink.on('drain', this.onDrain);
  }

  /** @throws BrokenPipeError, or the error of the stream (a full disk, for one). */
  async write(text: string): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    if (this.sink.destroyed) throw new BrokenPipeError();
    if (this.sink.write(text)) return;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    if (this.failure !== undefined) throw this.failure;
  }

  /** Waits until all is handed over, then lets go of the stream, which stays open. */
  async release(): Promise<void> {
    if (this.failure === undefined && !this.sink.destroyed) {
      await new Promise<void>((resolve) => {
        this.sink.once('close', resolve);
        this.sink.write('', () => resolve());
      });
    }
    this.sink.off('close', this.onClose);
    this.sink.off('drain', this.onDrain);
    // The error listener stays: a late EPIPE must not bring the process down.
  }

  private readonly onError = (error: NodeJS.ErrnoException): void => {
    this.failure ??=
      error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED' ? new BrokenPipeError() : error;
    this.wake?.();
  };

  private readonly onClose = (): void => {
    this.failure ??= new BrokenPipeError();
    this.wake?.();
  };

  private readonly onDrain = (): void => this.wake?.();
}
