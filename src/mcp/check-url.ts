import { z } from 'zod';
import type { RobotsClient } from '../client/index.ts';
import type { Purpose } from '../decision/index.ts';
import { agentField, decisionFields, urlField, withReason } from './fields.ts';
import { makeTool, type Tool } from './tool.ts';

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
    output: decisionFields.extend({
      purpose: z
        .enum(['allow', 'disallow', 'unknown'])
        .optional()
        .describe(
          'Whether the site wants the page used for your purpose. fetch_page refuses what it disallows',
        ),
    }),
    async answer({ url, agent }, signal) {
      const decision = await client.check(
        url,
        agent,
        purpose === undefined ? { signal } : { signal, purpose },
      );
      return { data: { ...withReason(decision), purpose: decision.usage?.preference } };
    },
  });
}
