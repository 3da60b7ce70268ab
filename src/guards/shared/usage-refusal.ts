import type { ClientEngine } from '../../core/client/client-engine.ts';
import type { Decision } from '../../core/decision/index.ts';
import type { ResponseFields } from './headers.ts';
import type { GuardSettings } from './options.ts';

interface UsageContext {
  readonly settings: Pick<GuardSettings<unknown>, 'purpose' | 'refusesUnknown'>;
  readonly engine: ClientEngine;
  readonly headersBeforeBody: boolean;
}

/**
 * The decision, with `usage`, that refuses a page because of the guard's purpose.
 *
 * @param headers The headers of the response; `undefined` before the request.
 */
export function refusedUse(
  { settings, engine, headersBeforeBody }: UsageContext,
  decision: Decision,
  headers?: ResponseFields,
): Decision | undefined {
  const { purpose, refusesUnknown } = settings;
  if (purpose === undefined || decision.reason === 'robots-txt') return undefined;
  const usage = engine.usageOf(decision, purpose, headers);
  if (usage.preference === 'allow') return undefined;
  // Without a preference in robots.txt, a header field of the response may still allow the purpose.
  const isFinal = headers !== undefined || !headersBeforeBody;
  if (usage.preference === 'unknown' && !(refusesUnknown && isFinal)) return undefined;
  return { ...decision, usage };
}
