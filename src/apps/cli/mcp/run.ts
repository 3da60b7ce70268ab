import { VERSION, printable } from '../../../core/base/index.ts';
import { connectStdio, loadSdk } from '../../mcp/connect-stdio.ts';
import { makeTools } from '../../mcp/tools.ts';
import { type Session, UsageError } from '../../answers/session.ts';
import { type ParsedArguments, type ExitCode, exitCode, stackOf, waitForShutdown } from '../frame/command.ts';
import { makePageFetch, openClient } from '../frame/open-client.ts';
import { assertNoOperand, onlineSettings } from '../frame/settings.ts';

/** Serves a host until it closes standard input (exit code 0), Ctrl-C (130) or SIGTERM (0). */
export async function serveAgents(
  given: ParsedArguments,
  session: Session,
  load: typeof loadSdk = loadSdk,
): Promise<ExitCode> {
  assertNoOperand(given);
  const settings = onlineSettings(given);
  if (settings.agents.includes('*')) {
    throw new UsageError(
      'Expected --agent to name who fetches pages, got "*"; write a name such as ExampleAgent',
    );
  }
  const sdk = await load();
  if (sdk === undefined) {
    throw new UsageError(
      `Expected the package @modelcontextprotocol/server, which is not installed; run \`npm install @modelcontextprotocol/server\` beside canfetch`,
    );
  }
  const { purpose } = settings;
  const agent = settings.agents[0] ?? `canfetch/${VERSION}`;
  // A model, or a page that it has read, chooses the URLs. They must not lead into the network of this machine.
  const addressPolicy = given.switches.has('allow-private') ? 'any' : 'public-only';
  await using opened = await openClient(settings, session, { addressPolicy });
  const { client } = opened;
  const fetch = await makePageFetch(opened, addressPolicy, purpose);
  const connection = connectStdio(session, {
    sdk,
    tools: makeTools({ client, fetch, purpose }),
    agent,
    // Standard output is for messages of the protocol alone.
    onError: (error) => session.stderr.write(`canfetch: ${stackOf(error)}\n`),
  });
  greet(agent, session);
  await Promise.race([connection.ended, waitForShutdown(session)]);
  await connection.close();
  return exitCode.success;
}

/** Tells a user who starts it by hand that it waits for a host. Hosts show standard error as a log, so they get nothing. */
function greet(agent: string, { stdin, stderr }: Session): void {
  if (Reflect.get(stdin, 'isTTY') !== true) return;
  stderr.write(
    `canfetch: waits for an MCP host on standard input, as ${printable(agent)}; see canfetch mcp --help\n`,
  );
}
