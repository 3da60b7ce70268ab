import { compileScript, type CompiledScript, startWorker, type Worker } from '../../support/workers.ts';
import type { WireCase, WireResult } from './wire-process.ts';

/** A process that asks servers of raw bytes. One that a case ended is replaced, so that a property can shrink the case. */
export class Wire {
  #script: CompiledScript | undefined;
  #worker: Worker | undefined;

  async ask(wireCase: WireCase): Promise<WireResult> {
    this.#script ??= compileScript(new URL('wire-process.ts', import.meta.url));
    this.#worker ??= startWorker(this.#script, []);
    this.#worker.send(wireCase);
    try {
      return (await this.#worker.next()) as WireResult;
    } catch {
      const { code, stderr } = await this.#worker.ended();
      this.#worker = undefined;
      throw new Error(`Expected the process to live, got exit code ${code}: ${stderr.slice(0, 500)}`);
    }
  }

  /** Expects that it ends by itself, and well. */
  async close(): Promise<void> {
    this.#worker?.end();
    const ended = await this.#worker?.ended();
    this.#script?.[Symbol.dispose]();
    if (ended !== undefined && ended.code !== 0)
      throw new Error(`Got exit code ${ended.code}: ${ended.stderr}`);
  }
}
