import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { printable, writeWhole } from '../../answers/text/index.ts';
import type { Session } from '../../answers/index.ts';
import { type ExitCode, exitCode } from '../frame/command.ts';
import type { PromRegistry } from '../../serve/index.ts';

/** A worker that lived shorter is replaced after a pause, so that one that cannot start takes no processor time. */
const SHORT_LIFE_MS = 1_000;
/** A worker that has not sent its metrics after this time is left out. */
const METRICS_MS = 2_000;

interface Collection {
  readonly all: unknown[];
  missing: number;
  readonly finish: () => void;
}

/**
 * Serves with `count` workers, processes that share the port, until Ctrl-C (exit code 130) or SIGTERM (0). A worker that
 * ends is replaced. When the first ones cannot start, this ends with their exit code.
 */
export async function serveWithWorkers(
  count: number,
  { host, port }: { readonly host: string; readonly port: number },
  session: Session,
): Promise<ExitCode> {
  const args = port === 0 ? await withFreePort(session.argv, host) : [...session.argv];
  cluster.setupPrimary({ args });
  const primary = new Primary(count, session);
  try {
    return await primary.run();
  } finally {
    cluster.removeAllListeners();
  }
}

/** With port 0, workers that replace the last ones would listen on another port. So one is chosen for all. */
async function withFreePort(argv: readonly string[], host: string): Promise<string[]> {
  const server = createServer().listen(0, host);
  try {
    await once(server, 'listening');
  } catch {
    // The workers say why they cannot listen.
    return [...argv];
  }
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await once(server.close(), 'close');
  return argv.map((word, at) =>
    argv[at - 1] === '--port' ? String(port) : word.replace(/^--port=.*/, `--port=${port}`),
  );
}

class Primary {
  readonly #count: number;
  readonly #session: Session;
  readonly #running = new Set<Worker>();
  /** Those of them that listen. */
  readonly #serving = new Set<Worker>();
  readonly #collections = new Map<number, Collection>();
  #collected = 0;
  #announced = false;
  #stopping = false;
  #failure: ExitCode | undefined;
  #end: (code: ExitCode) => void = () => undefined;

  constructor(count: number, session: Session) {
    this.#count = count;
    this.#session = session;
  }

  run(): Promise<ExitCode> {
    const { signal, onTerminate } = this.#session;
    return new Promise((resolve) => {
      this.#end = resolve;
      cluster.on('message', (worker, message: FromWorker) => this.#heard(worker, message));
      for (let at = 0; at < this.#count; at++) this.#start();
      onTerminate?.(() => this.#stop());
      // Ctrl-C of a terminal reaches the workers too, but a signal sent to this process alone does not.
      if (signal.aborted) this.#stop();
      else signal.addEventListener('abort', () => this.#stop(), { once: true });
    });
  }

  #start(): void {
    const startedAt = performance.now();
    const worker = cluster.fork();
    this.#running.add(worker);
    worker.once('exit', (code, killedBy) => {
      this.#running.delete(worker);
      this.#serving.delete(worker);
      if (!this.#announced) {
        // The worker has said why on standard error. The others would fail alike.
        this.#failure ??= code === exitCode.usage ? exitCode.usage : exitCode.failure;
        this.#stop();
      }
      if (this.#stopping) this.#endAfterLast();
      else this.#replace(worker, killedBy || `exit code ${code}`, performance.now() - startedAt);
    });
  }

  #replace(worker: Worker, why: string, livedMs: number): void {
    this.#session.stderr.write(
      `canfetch: worker ${worker.process.pid ?? ''} ended (${why}); another is started\n`,
    );
    setTimeout(() => this.#stopping || this.#start(), livedMs < SHORT_LIFE_MS ? SHORT_LIFE_MS : 0);
  }

  #heard(worker: Worker, message: FromWorker): void {
    if (message.kind === 'serves') {
      this.#serving.add(worker);
      if (this.#serving.size === this.#count && !this.#announced) void this.#announce(message.url);
    } else if (message.kind === 'metrics-wanted') this.#collect(worker, message.question);
    else this.#collections.get(message.asked)?.all.push(message.metrics);
    if (message.kind === 'metrics') this.#oneLess(message.asked);
  }

  async #announce(url: string): Promise<void> {
    this.#announced = true;
    await writeWhole(this.#session.stdout, `canfetch serves at ${printable(url)}\n`);
  }

  /** Asks all workers for their metrics, and gives them to the one that wants them. */
  #collect(asker: Worker, question: number): void {
    const asked = ++this.#collected;
    const all: unknown[] = [];
    const finish = (): void => {
      clearTimeout(late);
      this.#collections.delete(asked);
      send(asker, { kind: 'all-metrics', question, all });
    };
    const late = setTimeout(finish, METRICS_MS);
    this.#collections.set(asked, { all, missing: this.#serving.size, finish });
    for (const worker of this.#serving) send(worker, { kind: 'metrics-asked', asked });
  }

  #oneLess(asked: number): void {
    const collection = this.#collections.get(asked);
    if (collection !== undefined && --collection.missing === 0) collection.finish();
  }

  /** Each worker answers its requests in progress, and ends. */
  #stop(): void {
    this.#stopping = true;
    for (const worker of this.#running) worker.process.kill('SIGTERM');
    this.#endAfterLast();
  }

  #endAfterLast(): void {
    if (this.#running.size > 0) return;
    this.#end(this.#failure ?? (this.#session.signal.aborted ? exitCode.interrupted : exitCode.success));
  }
}

function send(worker: Worker, message: FromPrimary): void {
  if (worker.isConnected()) worker.send(message);
}

/** From a worker to the primary. */
export type FromWorker =
  /** The worker serves at `url`. */
  | { readonly kind: 'serves'; readonly url: string }
  /** Somebody has asked the worker for the metrics of all. */
  | { readonly kind: 'metrics-wanted'; readonly question: number }
  /** The metrics of the worker, as `prom-client` writes them in JSON. */
  | { readonly kind: 'metrics'; readonly asked: number; readonly metrics: unknown };

/** From the primary to a worker. */
export type FromPrimary =
  | { readonly kind: 'metrics-asked'; readonly asked: number }
  | { readonly kind: 'all-metrics'; readonly question: number; readonly all: readonly unknown[] };

/** A worker's connection to its primary. */
export class PrimaryLink {
  /** The own metrics, for the primary; set when the worker has some. */
  metrics: PromRegistry | undefined;
  readonly #waiting = new Map<number, (all: readonly unknown[]) => void>();
  #questions = 0;

  readonly #hear = (message: FromPrimary): void => {
    if (message.kind === 'all-metrics') this.#waiting.get(message.question)?.(message.all);
    else if (message.kind === 'metrics-asked') void this.#sendMetrics(message.asked);
  };

  constructor() {
    process.on('message', this.#hear);
  }

  serves(url: string): void {
    tell({ kind: 'serves', url });
  }

  /** The metrics of all workers. */
  allMetrics(): Promise<readonly unknown[]> {
    const question = ++this.#questions;
    return new Promise((resolve) => {
      this.#waiting.set(question, (all) => {
        this.#waiting.delete(question);
        resolve(all);
      });
      tell({ kind: 'metrics-wanted', question });
    });
  }

  /** Lets the process end. */
  close(): void {
    process.off('message', this.#hear);
    if (process.connected) cluster.worker?.disconnect();
  }

  async #sendMetrics(asked: number): Promise<void> {
    tell({ kind: 'metrics', asked, metrics: await this.metrics?.getMetricsAsJSON() });
  }
}

function tell(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}
