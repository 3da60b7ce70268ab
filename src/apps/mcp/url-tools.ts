import { z } from 'zod';
import { truncate } from '../../core/base/index.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import type { Purpose } from '../../core/decision/index.ts';
import {
  agentField,
  decisionFields,
  purposeFields,
  urlField,
  withReason,
  groupField,
  robotsField,
} from './fields.ts';
import { makeTool, type Tool } from './tool.ts';
import { type AnnotatedLine, annotate, explainUrl, type UrlExplanation } from '../answers/index.ts';
import { type Usage, usage } from '../../core/rules/index.ts';
import * as schema from '../answers/schema.ts';

/** `check_url`: the decision about one URL. */
export function checkUrl(client: RobotsClient, purpose: Purpose | undefined): Tool {
  return makeTool({
    name: 'check_url',
    title: 'Check a URL against robots.txt',
    description:
      'Says whether robots.txt allows you, or another crawler, to fetch a URL, and why. It requests the robots.txt of ' +
      'the site if that is not known yet, never the page. If "allowed" is false, do not fetch the URL by any other ' +
      'means. If "retryAt" is given, ask again after that time.',
    input: z.strictObject({ url: urlField, agent: agentField }),
    output: decisionFields.extend(purposeFields),
    async answer({ url, agent }, signal) {
      const decision = await client.check(
        url,
        agent,
        purpose === undefined ? { signal } : { signal, purpose },
      );
      return { data: { ...withReason(decision), purpose, preference: decision.usage?.preference } };
    },
  });
}

/** `explain_url`: the decision about one URL, and everything that it depends on. */
export function explainTool(client: RobotsClient): Tool {
  return makeTool({
    name: 'explain_url',
    title: 'Explain a robots.txt decision',
    description:
      'Explains the decision of check_url: the group and the rule of robots.txt that decide, the rule that came ' +
      'closest, the lines around them, what the site states about the use of its content by AI, and what other ' +
      'standards make of the same file. Use it when somebody asks why a URL is allowed or disallowed.',
    input: z.strictObject({ url: urlField, agent: agentField }),
    output: decisionFields.extend({
      group: groupField.optional(),
      runnerUp: schema.explanation.shape.runnerUp,
      usage: schema.usage
        .pick({ 'train-ai': true, 'ai-use': true, 'ai-input': true, search: true, licenses: true })
        .optional(),
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
      const explanation = await explainUrl(client, url, { agent, signal });
      return {
        data: {
          ...withReason(explanation.decision),
          runnerUp: explanation.runnerUp,
          usage: statedUsage(explanation),
          lines: linesOf(explanation),
          otherProfiles: explanation.underProfiles,
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
      : [
          {
            line: each.line,
            text: truncate(each.text, MAX_LINE_LENGTH),
            ...(each.role && { role: each.role }),
          },
        ],
  );
}

const MAX_LICENSES = 10;

/** The file's statements about the use of the page; `undefined` when it states nothing. */
function statedUsage({ file, decision }: UrlExplanation): Usage | undefined {
  if (file === undefined) return undefined;
  const stated = usage(file, decision.url, decision.agent);
  if (stated.sources.length === 0) return undefined;
  return {
    ...stated,
    licenses: stated.licenses.slice(0, MAX_LICENSES).map((license) => truncate(license, MAX_LINE_LENGTH)),
  };
}
