import { z } from 'zod';
import { omitUndefined, truncate, printable } from '../../core/base/index.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import type { OriginPolicy, Purpose } from '../../core/decision/index.ts';
import {
  agentField,
  decisionFields,
  purposeFields,
  urlField,
  whyField,
  withReason,
  makeTool,
  type Tool,
} from './tool.ts';
import { fetchPage, type PageFetch } from './fetch-page.ts';
import { findConverter } from './html-page.ts';
import {
  annotateAll,
  type AnnotatedLine,
  explainUrl,
  shorten,
  type UrlExplanation,
} from '../answers/explanation.ts';
import { whySentence } from '../answers/text/sentences.ts';
import { type Group, type RobotsFile, type Usage, usage } from '../../core/rules/index.ts';
import * as schema from '../answers/schema/answers.ts';

/** The dependencies of the tools. */
interface AgentTools {
  readonly client: RobotsClient;
  /** A guarded fetch for pages. */
  readonly fetch: PageFetch;
  /** The purpose for which the agent fetches pages. */
  readonly purpose: Purpose | undefined;
  /** Path of the library that makes Markdown of HTML. Default: the installed one. */
  readonly converter?: string | undefined;
}

/** All tools of the server, in the order in which it lists them. */
export function makeTools({
  client,
  fetch,
  purpose,
  converter = findConverter(),
}: AgentTools): readonly Tool[] {
  return [
    checkUrl(client, purpose),
    explainTool(client),
    sitePolicy(client),
    fetchPage(fetch, { client, purpose, converter }),
  ];
}

/** `check_url`: the decision about one URL. */
function checkUrl(client: RobotsClient, purpose: Purpose | undefined): Tool {
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
      const decision = await client.check(url, agent, { signal, ...omitUndefined({ purpose }) });
      return { data: { ...withReason(decision), purpose, preference: decision.usage?.preference } };
    },
  });
}

/** `explain_url`: the decision about one URL, and everything that it depends on. */
function explainTool(client: RobotsClient): Tool {
  return makeTool({
    name: 'explain_url',
    title: 'Explain a robots.txt decision',
    description:
      'Explains the decision of check_url: the group and the rule of robots.txt that decide, the rule that came ' +
      'closest, the lines around them, and what the site states about the use of its content by AI. ' +
      'Use it when the user asks why a URL is allowed or disallowed.',
    input: z.strictObject({ url: urlField, agent: agentField }),
    output: decisionFields.extend({
      group: schema.group.optional(),
      runnerUp: schema.runnerUp.optional(),
      usage: schema.usage.optional(),
      robots: schema.robots,
      lines: z
        .array(
          z.object({
            line: z.number(),
            text: z.string(),
            role: z.enum(['decides', 'runner-up']).optional(),
          }),
        )
        .describe('The robots.txt; of a long file the lines around those that decide'),
    }),
    async answer({ url, agent }, signal) {
      const explanation = await explainUrl(client, url, { agent, signal });
      return {
        data: {
          ...withReason(explanation.decision),
          runnerUp: explanation.runnerUp,
          usage: statedUsage(explanation.file, explanation.decision.url, explanation.decision.agent),
          lines: linesOf(explanation),
        },
      };
    },
  });
}

/** A line can be as long as the file. */
const MAX_LINE_LENGTH = 300;

function linesOf({ file, ...explanation }: UrlExplanation): Pick<AnnotatedLine, 'line' | 'text' | 'role'>[] {
  if (file === undefined) return [];
  return shorten(annotateAll({ ...explanation, file }), explanation).flatMap((each) =>
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

/** `undefined` when the file states nothing. */
function statedUsage(file: RobotsFile | undefined, target: string, agent: string): Usage | undefined {
  if (file === undefined) return undefined;
  const stated = usage(file, target, agent);
  if (stated.sources.length === 0) return undefined;
  return {
    ...stated,
    licenses: stated.licenses.slice(0, MAX_LICENSES).map((license) => truncate(license, MAX_LINE_LENGTH)),
  };
}

/** `site_policy`: all that is known about the robots.txt of an origin, with the fields of `OriginPolicy`. */
function sitePolicy(client: RobotsClient): Tool {
  return makeTool({
    name: 'site_policy',
    title: "Show a site's robots.txt policy",
    description:
      'Shows what the robots.txt of a site says as a whole: whether rules are in force, since when and until when, its ' +
      'groups with their rules, its sitemaps, the delay it asks for between requests, and what it states about the use ' +
      'of its pages by AI and search. Use it before you fetch many pages of a site, or to find its sitemaps.',
    input: z.strictObject({ url: urlField.describe('A URL of the site, of any page'), agent: agentField }),
    output: schema.policy.extend({
      why: whyField.optional(),
      usage: schema.usage.optional(),
      groups: z.array(z.object({ agents: z.array(z.string()), rules: z.array(schema.rule) })),
      omitted: z
        .object({ groups: z.number(), rules: z.number(), sitemaps: z.number() })
        .optional()
        .describe('How many more the file has. They count too'),
    }),
    async answer({ url, agent }, signal) {
      const policy = await client.policy(url, { signal, ...omitUndefined({ agent }) });
      const stated = statedUsage(policy.rules, '/', policy.agent);
      return { data: { ...policy, why: whySentence(policy), usage: stated, ...shortened(policy) } };
    },
  });
}

/** Limits of what is listed of a file: about 100,000 characters in all. */
const MAX_GROUPS = 200;
const MAX_NAMES = 20;
const MAX_RULES = 500;
const MAX_SITEMAPS = 100;
const MAX_TEXT_LENGTH = 120;

function shortened({ groups, sitemaps }: OriginPolicy) {
  const listed: { readonly agents: string[]; readonly rules: Group['rules'] }[] = [];
  let room = MAX_RULES;
  let rules = 0;
  for (const group of groups) {
    rules += group.rules.length;
    if (listed.length >= MAX_GROUPS) continue;
    const names = group.agentLines.flatMap((each) => each.names);
    const shown = group.rules.slice(0, room);
    room -= shown.length;
    listed.push({
      agents: names.slice(0, MAX_NAMES).map((name) => printable(name, MAX_TEXT_LENGTH)),
      rules: shown.map((rule) => ({ ...rule, pattern: printable(rule.pattern, MAX_TEXT_LENGTH) })),
    });
  }
  const omitted = {
    groups: groups.length - listed.length,
    rules: rules - (MAX_RULES - room),
    sitemaps: Math.max(0, sitemaps.length - MAX_SITEMAPS),
  };
  return {
    groups: listed,
    sitemaps: sitemaps
      .slice(0, MAX_SITEMAPS)
      .map(({ url, line }) => ({ url: printable(url, MAX_TEXT_LENGTH * 4), line })),
    ...(Object.values(omitted).some((count) => count > 0) ? { omitted } : {}),
  };
}
