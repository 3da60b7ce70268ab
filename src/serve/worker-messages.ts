/** Messages between the processes of one service: the primary, which has no port, and its workers. */

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
