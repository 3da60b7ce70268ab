import type { Decision } from '../../../core/decision/index.ts';
import type { Gatekeeper } from '../../../core/lifecycle/index.ts';
import type { Explanation, PageDirectives, Usage } from '../../../core/rules/index.ts';
import type { FileDecision } from '../verdict.ts';
import { asked, type Asked, decisionFields, object, runnerUp, type Schema, some } from './decision.ts';
import { type PolicyData, policyData } from './policy.ts';

type Circumstances = Omit<Explanation, 'verdict'>;

/** The response of `GET /v1/explain`. */
export type ExplanationResult = Asked & Decision & Circumstances & { readonly policy?: PolicyData };
export const explanation: Schema<ExplanationResult> = object<ExplanationResult>({
  ...asked,
  ...decisionFields,
  runnerUp: runnerUp.optional(),
  star: some('object').optional(),
  runsOn: some('object').optional(),
  nearMiss: some('object').optional(),
  policy: policyData.optional(),
});

/** The line of `canfetch explain --json`. */
export type ExplainedUrl = ExplanationResult & { readonly page?: PageFetchResult };
/** The same with `--robots FILE`. */
export type ExplainedByFile = Asked & FileDecision & Circumstances;

/** With `--page`: what the header fields of a page state about its use, or why they were not read. */
export type PageFetchResult =
  | {
      /** After redirects. */
      readonly url: string;
      readonly status: number;
      /** The service that answered in place of the site, such as `cloudflare`. */
      readonly gatekeeper?: Gatekeeper | undefined;
      readonly directives: PageDirectives;
      /** By robots.txt of the page's origin and by its header fields. */
      readonly usage: Usage;
    }
  | { readonly error: PageFailure };
interface PageFailure {
  readonly code?: string;
  readonly message: string;
  /** Of a redirect that was refused: the URL that was asked for. */
  readonly requested?: string;
  /** The URLs between that and the URL of the decision. */
  readonly redirects?: readonly string[];
  /** The decision about the URL that was refused. */
  readonly decision?: Decision;
}
