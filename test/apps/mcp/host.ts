import { PassThrough } from 'node:stream';
import { type CallToolResult, Client } from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { opened, openedSite } from '../../support/opened.ts';
import type { Handler, Script, Site } from '../../support/site.ts';
import { cli, type CliResult } from '../cli/session.ts';

/** A host of the official SDK, which talks to `canfetch mcp` in this process over two streams. */
export interface Host extends AsyncDisposable {
  readonly client: Client;
  /** What the command writes to standard output, as it was written. */
  readonly written: () => string;
  /** The result of the command once it has ended. */
  readonly ended: Promise<CliResult>;
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
  /** Calls a tool. The client validates the structured content by the output schema of the tool. */
  call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<ToolResult>;
}

export async function startHost(
  argv: readonly string[] = [],
  options: { readonly signal?: AbortSignal; readonly env?: Record<string, string> } = {},
): Promise<Host> {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  let written = '';
  stdout.on('data', (chunk: Buffer) => void (written += chunk.toString()));
  const ended = cli(['mcp', ...argv], { ...options, stdin, stdout });
  const client = new Client({ name: 'test', version: '1' });
  // The transport of a server is that of a client with the streams the other way round.
  await client.connect(new StdioServerTransport(stdout, stdin));
  // The client reads the output schemas here.
  await client.listTools();
  return {
    client,
    written: () => written,
    ended,
    stdin,
    stdout,
    async call(name, args, signal) {
      const options = signal === undefined ? {} : { signal };
      const { structuredContent, ...result } = await client.callTool({ name, arguments: args }, options);
      return {
        ...result,
        ...(structuredContent !== undefined && { structuredContent: Object(structuredContent) }),
      };
    },
    async [Symbol.asyncDispose]() {
      stdin.end();
      await ended;
      await client.close();
    },
  };
}

export type ToolResult = CallToolResult & { readonly structuredContent?: Record<string, unknown> };

/** The text blocks of a result. */
export function textsOf({ content }: CallToolResult): string[] {
  return content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`));
}

/** Who the servers of these tests are. */
export const AGENT = 'ExampleAgent/1.0 (+https://example.com/agent)';
/** How they start, so that they may ask the sites of tests. */
export const LOCAL: readonly string[] = ['-a', AGENT, '--allow-private'];

/** A site, and a host of a server that may ask it, for one test. */
export async function served(plan: Handler | Script, ...argv: readonly string[]): Promise<Served> {
  const site = await openedSite(plan);
  const host = opened(await startHost([...LOCAL, ...argv]));
  return { site, host, call: (tool, path, args = {}) => host.call(tool, { url: site.url(path), ...args }) };
}

export interface Served {
  readonly site: Site;
  readonly host: Host;
  /** Calls a tool for a URL of the site. */
  call(tool: string, path: string, args?: object): Promise<ToolResult>;
}
