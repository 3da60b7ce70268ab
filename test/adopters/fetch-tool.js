import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { guardFetch, refusalIn, RobotsClient } from 'canfetch';
import { z } from 'zod';

// Bun's fetch sends robots.txt and pages: whatever is given to it goes for both.
const robots = new RobotsClient({
  agent: 'ExampleTool/1.0 (+https://example.com/tool)',
  transport: { fetch },
});
const fetchPolitely = guardFetch(fetch, robots);

const server = new McpServer({ name: 'fetch', version: '1.0.0' });
server.registerTool(
  'fetch_text',
  { description: 'Fetches a page as text', inputSchema: { url: z.url() } },
  async ({ url }, { signal }) => {
    try {
      const response = await fetchPolitely(url, { signal });
      return { content: [{ type: 'text', text: await response.text() }], isError: !response.ok };
    } catch (error) {
      // The model reads why, and when to come again.
      const text = (refusalIn(error) ?? error).message;
      return { content: [{ type: 'text', text }], isError: true };
    }
  },
);
await server.connect(new StdioServerTransport());
