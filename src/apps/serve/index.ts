/**
 * Decisions over HTTP, and the page that explains them. Callers pass a client in; this module must not import `cli/` or a
 * guard. It loads `prom-client` only for metrics.
 */
export { accessLog } from './exchange.ts';
export { AllowedHosts } from './allowed-hosts.ts';
export { MAX_STREAMS, STREAM_CONCURRENCY } from './stream.ts';
export { DEFAULT_LIMITS, type Service, type ServiceLimits } from './exchange.ts';
export { loadPromClient, Metrics, type PromClient } from './metrics.ts';
export { type RunningServer, type ServerOptions, startServer } from './server.ts';
