import { z } from 'zod';
import type { RobotsClient } from '../../core/client/index.ts';
import type { OriginPolicy } from '../../core/decision/index.ts';
import type { Group } from '../../core/rules/index.ts';
import { printable, whySentence } from '../answers/text/index.ts';
import { policyData, rule } from '../answers/schema.ts';
import { agentField, groupField, robotsField, urlField, whyField } from './fields.ts';
import { makeTool, type Tool } from './tool.ts';

/** `site_policy`: everything that is known of the robots.txt of an origin. The fields are those of `OriginPolicy`. */
export function sitePolicy(client: RobotsClient): Tool {
  return makeTool({
    name: 'site_policy',
    title: "Show a site's robots.txt policy",
    description:
      'Shows what the robots.txt of a site says as a whole: whether rules are in force, since when and until when, its ' +
      'groups with their rules, its sitemaps, and the delay it asks for between requests. Use it before you fetch ' +
      'many pages of a site, or to find its sitemaps.',
    input: z.strictObject({ url: urlField.describe('A URL of the site, of any page'), agent: agentField }),
    output: policyData
      .pick({
        state: true,
        reason: true,
        origin: true,
        profile: true,
        retryAt: true,
        agent: true,
        sitemaps: true,
      })
      .extend(policyData.pick({ crawlDelayMs: true, requestRateMs: true }).shape)
      .extend({
        why: whyField.optional(),
        robots: robotsField,
        group: groupField.optional(),
        groups: z.array(z.object({ agents: z.array(z.string()), rules: z.array(rule) })),
        omitted: z
          .object({ groups: z.number(), rules: z.number(), sitemaps: z.number() })
          .optional()
          .describe('How many more the file has. They count too'),
      }),
    async answer({ url, agent }, signal) {
      const policy = await client.policy(url, agent === undefined ? { signal } : { signal, agent });
      return { data: { ...policy, why: whySentence(policy), ...shortened(policy) } };
    },
  });
}

/** Limits of what is listed of a file: about 100,000 characters in all. */
const MAX_GROUPS = 200;
const MAX_NAMES = 20;
const MAX_RULES = 500;
const MAX_SITEMAPS = 100;
const MAX_TEXT_LENGTH = 120;

/** A group with its names on one list. */
interface ListedGroup {
  readonly agents: string[];
  readonly rules: Group['rules'][number][];
}

function shortened({ groups, sitemaps }: OriginPolicy): {
  readonly groups: ListedGroup[];
  readonly sitemaps: { readonly url: string; readonly line: number }[];
  readonly omitted?: { readonly groups: number; readonly rules: number; readonly sitemaps: number };
} {
  const listed: ListedGroup[] = [];
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
