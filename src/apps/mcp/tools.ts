import type { RobotsClient } from '../../core/client/index.ts';
import type { Purpose } from '../../core/decision/index.ts';
import { checkUrl, explainTool, sitePolicy } from './url-tools.ts';
import { fetchPage, type PageFetch } from './fetch-page.ts';
import type { Tool } from './tool.ts';

/** The dependencies of the tools. */
interface AgentTools {
  readonly client: RobotsClient;
  /** A guarded fetch for pages. */
  readonly fetch: PageFetch;
  /** The purpose for which the agent fetches pages. */
  readonly purpose: Purpose | undefined;
}

/** All tools of the server, in the order in which it lists them. */
export function makeTools({ client, fetch, purpose }: AgentTools): readonly Tool[] {
  return [
    checkUrl(client, purpose),
    explainTool(client),
    sitePolicy(client),
    fetchPage(fetch, { client, purpose }),
  ];
}
