/** Schemas of fields that several tools have. Their descriptions are for the model. */
import { z } from 'zod';
import { type Decision } from '../decision/index.ts';
import { printable, whySentence, withoutUserinfo } from '../report/text/index.ts';
import * as schema from '../report/schema.ts';

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

/** The answer for robots.txt, as much of it as the tools show. */
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

/** The reason of a decision as a sentence, with the time to ask again. */
function reasonSentence(decision: Decision): string {
  const { retryAt } = decision;
  const again =
    retryAt === undefined ? '' : `. Ask again after ${new Date(retryAt).toISOString()}, not before`;
  return `${whatDecides(decision)}${again}.`;
}

function whatDecides(decision: Decision): string {
  const { agent, group, reason, rule } = decision;
  const name = printable(agent);
  const ofCopy = decision.state === 'last-good' ? ` (${whySentence(decision)})` : '';
  if (reason === 'rule') {
    const directive = rule.directive === 'allow' ? 'Allow' : 'Disallow';
    const whose = `in the group for "${printable(group.agent)}"`;
    return `Line ${rule.line} of robots.txt, "${directive}: ${printable(rule.pattern)}" ${whose}, decides for ${name}${ofCopy}`;
  }
  if (reason === 'no-rule') return `No rule for ${name} matches, so it is allowed${ofCopy}`;
  if (reason === 'no-group') return `robots.txt has no group for ${name}, so it is allowed${ofCopy}`;
  return whySentence(decision) ?? reason;
}
