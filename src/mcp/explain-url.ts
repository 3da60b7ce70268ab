import { z } from 'zod';
import type { RobotsClient } from '../client/index.ts';
import { type AnnotatedLine, annotate, explainServed, type UrlExplanation } from '../report/index.ts';
import { usage } from '../rules/index.ts';
import { decisionFields, decisionFieldsOf } from './decision-fields.ts';
import {
  agentField,
  robotsField,
  robotsOf,
  ruleField,
  urlField,
  usageField,
  type UsageFields,
} from './fields.ts';
import { makeTool, type Tool } from './tool.ts';

/** `explain_url`: the decision about one URL, and everything that it depends on. */
export function explainUrl(client: RobotsClient): Tool {
  return makeTool({
    name: 'explain_url',
    title: 'Explain a robots.txt decision',
    description:
      'Explains the decision of check_url: the group and the rule of robots.txt that decide, the rule that came ' +
      'closest, the lines around them, what the site states about the use of its content by AI, and what other ' +
      'standards make of the same file. Use it when somebody asks why a URL is allowed or disallowed.',
    input: z.strictObject({ url: urlField, agent: agentField }),
    output: z.object({
      ...decisionFields,
      group: z
        .object({ agent: z.string(), lines: z.array(z.number()) })
        .optional()
        .describe('The group that applies: the name in robots.txt, and the lines of its User-agent records'),
      runnerUp: z
        .object({ rule: ruleField, lost: z.enum(['shorter', 'tie', 'later']) })
        .optional()
        .describe('The rule that came closest to deciding, and why it lost'),
      usage: usageField.optional(),
      robots: robotsField,
      lines: z
        .array(
          z.object({
            line: z.number(),
            text: z.string(),
            role: z.enum(['decides', 'runner-up']).optional(),
          }),
        )
        .describe('The robots.txt; of a long file the lines around those that decide'),
      otherProfiles: z
        .array(z.object({ profile: z.string(), allowed: z.boolean().optional() }))
        .describe('What other standards make of the same answer; without "allowed" where they cannot decide'),
    }),
    async answer({ url, agent }, signal) {
      const policy = await client.policy(url, agent === undefined ? { signal } : { signal, agent });
      const decision = await client.check(url, agent, { signal });
      const explanation = explainServed(decision, policy);
      const { group } = decision;
      return {
        data: {
          ...decisionFieldsOf(decision),
          group: group && { agent: group.agent, lines: [...group.lines] },
          runnerUp: explanation.runnerUp,
          usage: usageOf(explanation),
          robots: robotsOf(decision.robots),
          lines: linesOf(explanation),
          otherProfiles: explanation.underProfiles.map((other) => ({
            profile: other.profile,
            allowed: other.allowed,
          })),
        },
      };
    },
  });
}

/** A line can be as long as the file. */
const MAX_LINE_LENGTH = 300;

function linesOf({ file, ...explanation }: UrlExplanation): Pick<AnnotatedLine, 'line' | 'text' | 'role'>[] {
  if (file === undefined) return [];
  return annotate({ ...explanation, file }, false).flatMap((each) =>
    'omitted' in each
      ? []
      : [{ line: each.line, text: cut(each.text), ...(each.role && { role: each.role }) }],
  );
}

const MAX_LICENSES = 10;

/** The file's statements about the use of the page; `undefined` when it states nothing. */
function usageOf({ file, decision }: UrlExplanation): UsageFields | undefined {
  if (file === undefined) return undefined;
  const stated = usage(file, decision.url, decision.agent);
  if (stated.sources.length === 0) return undefined;
  const { 'train-ai': trainAi, 'ai-use': aiUse, 'ai-input': aiInput, search } = stated;
  const licenses = stated.licenses.slice(0, MAX_LICENSES).map(cut);
  return { 'train-ai': trainAi, 'ai-use': aiUse, 'ai-input': aiInput, search, licenses };
}

function cut(text: string): string {
  return text.length > MAX_LINE_LENGTH ? `${text.slice(0, MAX_LINE_LENGTH)}…` : text;
}
