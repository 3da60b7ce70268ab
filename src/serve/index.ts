/**
 * Decisions over HTTP, and the page that explains them. It is handed a client, and must not import `cli/` or a guard;
 * `prom-client` is loaded when metrics are asked for.
 */
export { AllowedHosts } from './allowed-hosts.ts';
export { MAX_STREAMS, STREAM_CONCURRENCY } from './check.ts';
export { DEFAULT_LIMITS, type Service, type ServiceLimits } from './service.ts';
export { loadPromClient, Metrics, type PromClient } from './metrics.ts';
export { type RunningServer, type ServerOptions, startServer } from './server.ts';
