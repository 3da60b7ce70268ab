import { VERSION } from '../../core/base/index.ts';
import { checkOne, checkMany } from './check.ts';
import { diff } from './diff.ts';
import { type Handler, JSON_TYPE, Problem } from './reply.ts';
import { explainOne, explainPasted, policy } from './explain.ts';
import { openApi } from './openapi.ts';
import { failures, PRIVATE_ADDRESS, reasons, redirectEnds } from '../../core/decision/index.ts';
import { assets, moduleHandler } from './page/assets.ts';
import { onlyKnown } from './request.ts';

export interface RouteHandlers {
  /** Handles GET and HEAD. */
  readonly GET?: Handler;
  readonly POST?: Handler;
}

const health: Handler = ({ query }) => {
  onlyKnown(query, []);
  return {
    type: JSON_TYPE,
    body: JSON.stringify({ status: 'ok', version: VERSION }),
  };
};

const described = JSON.stringify(openApi);
const description: Handler = ({ query }) => {
  onlyKnown(query, []);
  return { type: JSON_TYPE, body: described };
};

const metrics: Handler = async ({ query, service }) => {
  onlyKnown(query, []);
  if (service.metrics === undefined) {
    throw new Problem(
      501,
      'ERR_ROBOTS_NO_METRICS',
      'Expected the package prom-client to be installed; run `npm install prom-client` and restart the service',
    );
  }
  return {
    type: service.metrics.contentType,
    body: await service.metrics.text(),
  };
};

/** Limits the number of explanations in memory: each contains a whole file, and counts until it has been read. */
const explains =
  (handler: Handler): Handler =>
  (exchange) => {
    const { service, signal } = exchange;
    const { explanations } = service.limits;
    // An aborted signal emits no further `abort`, so the count would never be decremented.
    signal.throwIfAborted();
    if (service.explanations >= explanations) {
      throw new Problem(
        503,
        'ERR_ROBOTS_BUSY',
        `Expected at most ${explanations} explanations at a time, got one more; read the pending responses first`,
        { headers: { 'retry-after': '1' } },
      );
    }
    service.explanations++;
    signal.addEventListener('abort', () => service.explanations--, { once: true });
    return handler(exchange);
  };

/** All paths of the service. */
export const routes: ReadonlyMap<string, RouteHandlers> = new Map<string, RouteHandlers>([
  ['/v1/check', { GET: checkOne, POST: checkMany }],
  ['/v1/policy', { GET: explains(policy) }],
  ['/v1/explain', { GET: explains(explainOne), POST: explains(explainPasted) }],
  ['/v1/diff', { POST: explains(diff) }],
  ['/metrics', { GET: metrics }],
  ['/openapi.json', { GET: description }],
  ['/healthz', { GET: health }],
  ...[...assets].map(([path, handler]): [string, RouteHandlers] => [path, { GET: handler }]),
  // Reasons and error codes in the words that the command has.
  ['/page/words.js', { GET: moduleHandler({ reasons, failures, redirectEnds, PRIVATE_ADDRESS }) }],
]);
