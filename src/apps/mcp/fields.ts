/** Schemas of fields that several tools have, and of refusals. Their descriptions are for the model. */
import { z } from 'zod';
import { type Decision, describeDecision, PURPOSES } from '../../core/decision/index.ts';
import { whySentence } from '../answers/text/reasons.ts';
import * as schema from '../answers/schema/answers.ts';
import { causesOf, isRobotsError, printable, withoutUserinfo } from '../../core/base/index.ts';
import { refusalIn } from '../../guards/shared/index.ts';

/** Longer than any URL that servers accept. */
const MAX_URL_LENGTH = 8_192;
const MAX_AGENT_LENGTH = 1_000;

export const urlField: z.ZodType<string, string> = z
  .string()
  .min(1)
  .max(MAX_URL_LENGTH)
  .describe('An absolute URL, such as https://example.com/page?id=1');

export const agentField: z.ZodType<string | undefined, string | undefined> = z
  .string()
  .min(1)
  .max(MAX_AGENT_LENGTH)
  .optional()
  .describe(
    'Another crawler to ask about, such as Googlebot. Leave it out to ask about yourself: fetch_page fetches as yourself only',
  );

export const whyField: z.ZodType<string> = z.string().describe('The reason as a sentence');

/** The fields of the response for robots.txt that the tools show. */
export const robotsField: z.ZodObject = schema.robots.pick({
  url: true,
  finalUrl: true,
  status: true,
  error: true,
  fetchedAt: true,
  staleAt: true,
  truncated: true,
  suspect: true,
});

export const groupField: z.ZodObject = schema.group.pick({ agent: true, lines: true });

/** The purpose of the agent, and separately what the site states about it. */
export const purposeFields: Readonly<Record<'purpose' | 'preference', z.ZodType>> = {
  purpose: z
    .enum(PURPOSES)
    .optional()
    .describe('What you fetch pages for; absent when you were started without one'),
  preference: z
    .enum(['allow', 'disallow', 'unknown'])
    .optional()
    .describe(
      'Whether robots.txt or a header field (Content-Usage, Content-Signal) wants the page used for "purpose". fetch_page refuses what it disallows',
    ),
};

/** The fields of a decision that `check_url` and `explain_url` give. */
export const decisionFields: z.ZodObject = schema.decision
  .pick({
    allowed: true,
    reason: true,
    rule: true,
    retryAt: true,
    url: true,
    agent: true,
    crawlDelayMs: true,
  })
  .extend({ why: whyField });

/** A decision with its reason as a sentence. */
export function withReason(decision: Decision): object {
  return { ...decision, url: withoutUserinfo(decision.url), why: reasonSentence(decision) };
}

/** The sentence that guards say, too. */
function reasonSentence(decision: Decision): string {
  const ofCopy = decision.state === 'last-good' ? ` (${whySentence(decision)})` : '';
  return `${describeDecision(decision)}${ofCopy}.`;
}

/** The data of a call that was refused, or that failed. */
export const refusalFields: z.ZodObject = schema.decision.pick({ rule: true, retryAt: true }).extend({
  code: z.string().describe('Present when the call was refused or failed: a literal error code'),
  why: whyField,
});

/** The error of a call that failed for a reason outside the library. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Messages quote URLs and patterns, which can be long. */
const MAX_WHY_LENGTH = 2_000;

/** Describes an error for the model; `undefined` for an unexpected error. */
export function refusalFieldsOf(error: unknown): object | undefined {
  const refused = refusalIn(error);
  if (refused !== undefined) {
    const { code, decision } = refused;
    return {
      code,
      why: whyOf(refused),
      rule: code === 'ERR_ROBOTS_DISALLOWED' ? decision.rule : undefined,
      retryAt: 'retryAt' in refused ? refused.retryAt : undefined,
    };
  }
  for (const each of causesOf(error)) {
    if (each instanceof ToolError || isRobotsError(each)) {
      return { code: each.code, why: whyOf(each) };
    }
  }
  return undefined;
}

function whyOf({ message, code }: Error & { readonly code?: string }): string {
  const hint =
    code === 'ERR_ROBOTS_ADDRESS_REFUSED' ? '; --allow-private permits it, when canfetch mcp is started' : '';
  return printable(withoutUserinfo(message), MAX_WHY_LENGTH) + hint;
}
