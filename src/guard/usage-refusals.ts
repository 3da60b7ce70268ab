import { type Decision, decisionChannels } from '../decision/index.ts';
import type { UsageOptions } from '../rules/index.ts';
import type { GuardClient } from './client.ts';
import type { GuardSettings } from './options.ts';

type UsageSettings = Pick<GuardSettings<unknown>, 'purpose' | 'refusesUnknown' | 'enforces' | 'onRefusal'>;

/** Refuses pages that a site does not want used for the `purpose` of a guard. */
export class UsageRefusals {
  private readonly client: GuardClient;
  private readonly settings: UsageSettings;
  private readonly seesHeaders: boolean;

  /** @param seesHeaders Whether the guard asks again with the header fields of the response. */
  constructor(client: GuardClient, settings: UsageSettings, seesHeaders: boolean) {
    this.client = client;
    this.settings = settings;
    this.seesHeaders = seesHeaders;
  }

  /**
   * The decision that refuses a page which robots.txt allows to be fetched; `undefined` when it may be used, or when
   * the refusal is only reported.
   *
   * @param headers The header fields of the response; `undefined` before the request.
   */
  refuses(decision: Decision, headers?: UsageOptions): Decision | undefined {
    const { purpose, refusesUnknown, enforces } = this.settings;
    if (purpose === undefined || decision.reason === 'robots-txt') return undefined;
    const usage = this.client.usageOf?.(decision, purpose, headers);
    if (usage === undefined || usage.preference === 'allow') return undefined;
    // Without a preference in robots.txt, a header field of the response may still allow the purpose.
    const isDecided = headers !== undefined || !this.seesHeaders;
    if (usage.preference === 'unknown' && !(refusesUnknown && isDecided)) return undefined;
    // In a dry run `onRefusal` was called before the request.
    if (headers !== undefined && usage.source?.line !== undefined && !enforces) return undefined;
    const refused = { ...decision, usage };
    this.settings.onRefusal?.(refused);
    const { usage: channel } = decisionChannels;
    if (channel.hasSubscribers) channel.publish({ decision: refused, client: this.client });
    return enforces ? refused : undefined;
  }
}
