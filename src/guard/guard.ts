import type { Decision } from '../decision/index.ts';
import type { UsageOptions } from '../rules/index.ts';
import type { GuardClient } from './client.ts';
import type { GuardOptions } from './options.ts';
import { Guard as Steps } from './steps/guard.ts';
import { Hop } from './steps/hop.ts';
import type { SiteReports } from './steps/site-reports.ts';

/** The steps, in the form in which the guards of browsers call them. */
export class Guard {
  readonly reports: SiteReports;
  readonly hasPurpose: boolean;
  readonly #steps: Steps;
  readonly #hops = new WeakMap<Decision, Hop>();

  constructor(client: GuardClient, options: GuardOptions, seesHeaders: boolean) {
    this.#steps = new Steps(client, options, { seesHeaders });
    this.reports = this.#steps.reports;
    this.hasPurpose = options.purpose !== undefined;
  }

  async admit(
    url: URL,
    {
      onDecision,
      ...options
    }: {
      readonly signal: AbortSignal;
      readonly because: string | undefined;
      readonly onDecision: ((decision: Decision) => void) | undefined;
    },
  ): Promise<void> {
    const hop = new Hop(url, options);
    await this.#steps.pass(hop);
    if (hop.decision === undefined) return;
    this.#hops.set(hop.decision, hop);
    onDecision?.(hop.decision);
  }

  refusesResponse(decision: Decision | undefined, headers: UsageOptions): Decision | undefined {
    const hop = decision && this.#hops.get(decision);
    return hop && this.#steps.refuseUse(hop, headers)?.decision;
  }
}
