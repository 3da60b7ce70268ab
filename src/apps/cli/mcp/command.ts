import { type Command, exitCode } from '../frame/command.ts';
import { agentOption, evidenceOption, onlineOptions, purposeOption } from '../frame/options.ts';

/** `canfetch mcp`: gives decisions to AI agents, and fetches pages for them, over the Model Context Protocol. */
export const mcpCommand: Command = {
  name: 'mcp',
  summary: 'Give decisions to AI agents over the Model Context Protocol, and fetch pages for them',
  operands: '',
  operandsHelp:
    'It takes no operands. A host (an editor, a chat program) starts it and talks to it over standard input and ' +
    'output. Its tools are check_url, explain_url, site_policy and fetch_page.',
  options: [
    { ...agentOption, help: 'the agent that requests pages and robots.txt' },
    {
      ...purposeOption,
      help: 'what pages are fetched for; fetch_page refuses pages that the site does not want used for it',
    },
    {
      name: 'allow-private',
      help: 'fetch from private, loopback and link-local addresses too, not only from public ones',
    },
    ...onlineOptions,
    evidenceOption,
  ],
  examples: [
    {
      line: 'canfetch mcp -a "ExampleAgent/1.0 (+https://example.com/agent)"',
      does: 'the line for the configuration of a host',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'the host closed standard input, or the process got SIGTERM' },
    {
      code: exitCode.usage,
      says: 'wrong usage, or the package @modelcontextprotocol/server is not installed',
    },
  ],
  notes: [
    'It needs the package @modelcontextprotocol/server, and node-html-markdown makes Markdown of HTML: npm install node-html-markdown @modelcontextprotocol/server',
  ],
  run: async (given, session) => (await import('./run.ts')).serveAgents(given, session),
};
