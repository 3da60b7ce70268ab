import { channel, type ClientMessage, type Publisher, type TracedWork, tracedWork } from '../base/index.ts';
import type { Outcome } from '../lifecycle/index.ts';
import { ROBOTS_PATH } from '../url/index.ts';
import { Attempt } from './attempt.ts';
import type { FetchRobotsOptions, Transport } from './transport.ts';
import { platform } from '#platform';
import type { AddressPolicy } from '../net/address-policy.ts';
import { type FetchFunction, fetchTransport } from './fetch-transport.ts';
import type { UndiciTransportOptions } from './undici-transport.ts';

/** `tracing:canfetch:attempt:*`: an attempt to fetch a robots.txt, however many questions wait for it. */
export interface AttemptMessage extends ClientMessage {
  readonly origin: string;
  /** `<origin>/robots.txt`. */
  readonly url: string;
  /** Whether the request is conditional. */
  readonly revalidation: boolean;
  /** At its end: the outcome. Do not change its body. */
  readonly result?: Outcome;
  /** At its end: why it was given up. */
  readonly error?: unknown;
}

const attempts: TracedWork<AttemptMessage> = tracedWork('canfetch:attempt');

/** `canfetch:fetch`: an attempt to fetch a robots.txt has ended. */
export interface FetchMessage extends ClientMessage {
  readonly origin: string;
  /** `<origin>/robots.txt`. */
  readonly url: string;
  /**
   * The outcome. Do not change its body; in JSON it is the number of its `bytes`. `undefined` when all waiting callers
   * had left.
   */
  readonly outcome: Outcome | undefined;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Whether the request was conditional. */
  readonly revalidation: boolean;
}

const ended: Publisher<FetchMessage> = channel('canfetch:fetch');

/**
 * Makes one attempt to fetch `<origin>/robots.txt`. All network trouble is an outcome. The promise rejects only with
 * the reason of an aborted `signal`, and it does so even if a transport ignores the signal.
 */
export function fetchRobots(options: FetchRobotsOptions): Promise<Outcome> {
  if (!attempts.hasSubscribers && !ended.hasSubscribers) return untilDeadline(options);
  const { origin, client, clock, copy } = options;
  const about = { origin, url: origin + ROBOTS_PATH, revalidation: copy !== undefined, client };
  const startedAt = clock.now();
  const outcome = attempts.tracePromise(() => untilDeadline(options), { ...about });
  const publish = (outcome: Outcome | undefined): void => {
    if (!ended.hasSubscribers) return;
    ended.publish({
      ...about,
      startedAt,
      outcome: outcome && forLogs(outcome),
      durationMs: clock.now() - startedAt,
    });
  };
  outcome.then(publish, () => publish(undefined));
  return outcome;
}

function untilDeadline(options: FetchRobotsOptions): Promise<Outcome> {
  const { signal, deadlineMs } = options;
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const attempt = new Attempt(options);
    const deadline = setTimeout(() => {
      settle();
      resolve(attempt.outcomeAtDeadline());
      attempt.abort();
    }, deadlineMs);
    const abandon = (): void => {
      settle();
      reject(signal.reason);
      attempt.abort();
    };
    const settle = (): void => {
      clearTimeout(deadline);
      signal.removeEventListener('abort', abandon);
    };
    signal.addEventListener('abort', abandon, { once: true });
    void attempt.run().then(resolve, reject).then(settle);
  });
}

/** The outcome, whose JSON has the number of bytes in place of the body: subscribers write messages into logs. */
function forLogs(outcome: Outcome): Outcome {
  if (outcome.kind !== 'success') return outcome;
  const { body, ...others } = outcome;
  return Object.defineProperty({ ...outcome }, 'toJSON', {
    value: () => ({ ...others, bytes: body.length }),
  });
}

// By condition `platform/undici.ts` or `platform/fetch.ts`: see `imports` in package.json.

interface TransportSettings extends Pick<UndiciTransportOptions, 'dispatcher' | 'lookup'> {
  readonly transport: FetchFunction | Transport | undefined;
  readonly addressPolicy: AddressPolicy;
  readonly deadlineMs: number;
}

/** The transport of a client. Loads undici if the settings need it. */
export async function openTransport(settings: TransportSettings): Promise<Transport> {
  const { transport, dispatcher, lookup, addressPolicy, deadlineMs: connectTimeoutMs } = settings;
  const { undici } = platform;
  if (transport !== undefined) {
    undici?.surviveManyCodings();
    return typeof transport === 'function' ? fetchTransport(transport) : transport;
  }
  const publicOnly = addressPolicy === 'public-only';
  // Settings without a transport are for platforms with undici only.
  return undici!.openTransport({ dispatcher, publicOnly, lookup, connectTimeoutMs });
}
