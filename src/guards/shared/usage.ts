import type { Decision } from '../../core/decision/index.ts';
import type { UsageOptions } from '../../core/rules/index.ts';
import type { GuardClient } from './client.ts';
import type { GuardSettings } from './options.ts';

type UsageSettings = Pick<GuardSettings<unknown>, 'purpose' | 'refusesUnknown'>;

/** Finds the pages that a site does not want used for the `purpose` of a guard. */
export class UsagePreferences {
  readonly #client: GuardClient;
  readonly #settings: UsageSettings;
  readonly #seesHeaders: boolean;

  /** @param seesHeaders Whether the guard asks again with the header fields of the answer. */
  constructor(client: GuardClient, settings: UsageSettings, seesHeaders: boolean) {
    this.#client = client;
    this.#settings = settings;
    this.#seesHeaders = seesHeaders;
  }

  /**
   * The decision, with `usage`, that refuses a page which robots.txt allows to be fetched; `undefined` when the page may
   * be used.
   *
   * @param headers The header fields of the answer; `undefined` before the request.
   */
  refuse(decision: Decision, headers?: UsageOptions): Decision | undefined {
    const { purpose, refusesUnknown } = this.#settings;
    if (purpose === undefined || decision.reason === 'robots-txt') return undefined;
    const usage = this.#client.usageOf?.(decision, purpose, headers);
    if (usage === undefined || usage.preference === 'allow') return undefined;
    // Without a preference in robots.txt, a header field of the answer may still allow the purpose.
    const isDecided = headers !== undefined || !this.#seesHeaders;
    if (usage.preference === 'unknown' && !(refusesUnknown && isDecided)) return undefined;
    return { ...decision, usage };
  }
}
