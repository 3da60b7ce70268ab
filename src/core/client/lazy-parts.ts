import { Lazy } from '../base/index.ts';
import { decisionChannels } from '../decision/index.ts';
import type { AttemptContext, ClientAttempts } from './attempts.ts';
import type { Recorder } from './evidence/recorder.ts';
import type { Pacer } from '../pacing/pacer.ts';
import type { StoredOrigins } from '../store/index.ts';
import type { RecordCodec } from '../store/record/record-codec.ts';
import type { OriginSettings, Settings } from './settings.ts';
import type { ClientEngine } from './client-engine.ts';

/*
 * The parts of a client that many clients never use. Each is loaded when it is first needed, because Workers and pages
 * pay for every byte.
 */

/** The attempts, and HTTP with them: half of the import time of the package. */
export function lazyAttempts(context: AttemptContext): Lazy<ClientAttempts> {
  return new Lazy(async () => {
    const { ClientAttempts } = await import('./attempts.ts');
    return ClientAttempts.open(context);
  });
}

/** Records as text, for stores and snapshots. */
export function lazyCodec({ maxBodyBytes }: Settings, { profileOf }: OriginSettings): Lazy<RecordCodec> {
  return new Lazy(async () => {
    const { RecordCodec } = await import('../store/record/record-codec.ts');
    return new RecordCodec({ maxBodyBytes, profileOf });
  });
}

/**
 * The origins in the client's store; `undefined` without a store.
 *
 * @param client For messages about its store.
 */
export function lazyStore(
  settings: Settings,
  { profileOf }: OriginSettings,
  codec: Lazy<RecordCodec>,
  client: object,
): Lazy<StoredOrigins> | undefined {
  const { store } = settings;
  if (store === undefined) return undefined;
  return new Lazy(async () => {
    const { StoredOrigins } = await import('../store/stored-origins.ts');
    return new StoredOrigins({ ...settings, store, client }, await codec.load(), profileOf);
  });
}

/** Paced origins take little memory, so a small `cache.maxOrigins` does not limit them. */
const MIN_PACED_ORIGINS = 1_000;

/**
 * What lets requests start.
 *
 * @param engineOf The engine of the client, which is made after this.
 * @param client For messages about its decisions.
 */
export function lazyPacer(
  { clock, random, maxOrigins }: Settings,
  stored: Lazy<StoredOrigins> | undefined,
  engineOf: () => ClientEngine,
  client: object,
  recorder: Recorder | undefined,
): Lazy<Pacer> {
  return new Lazy(async () => {
    const { Pacer } = await import('../pacing/pacer.ts');
    const { RequestRates } = await import('../pacing/gap.ts');
    const rates = new RequestRates();
    const { deferred, pause } = decisionChannels;
    const shared = await stored?.load();
    return new Pacer({
      clock,
      random,
      maxOrigins: Math.max(MIN_PACED_ORIGINS, maxOrigins),
      // A client that was closed meanwhile may not have closed this store. A reported pause is evidence all the same.
      fleet: engineOf().isClosed ? undefined : shared?.fleet,
      requestRateMs: (decision) => {
        const file = engineOf().fileOf(decision);
        return file && rates.delayMsOf(file, decision.agent, clock);
      },
      onDeferral: (decision, deferral) => {
        recorder?.onDeferral(decision, deferral.retryAt, deferral.delayFrom);
        if (deferred.hasSubscribers) deferred.publish({ decision, ...deferral, client });
      },
      onPause: (scope, paused, news) => {
        recorder?.onPause(scope, paused);
        if (news === 'begins' && pause.hasSubscribers) pause.publish({ ...scope, ...paused, client });
      },
      onBookedRequest: (request) => engineOf().publishRequest(request),
    });
  });
}
