import { type ParsedArguments, type ExitCode, exitCode, stackOf, waitForShutdown } from '../frame/command.ts';
import { openClient } from '../frame/open-client.ts';
import { assertNoOperand, readWholeNumber, onlineSettings } from '../frame/settings.ts';
import { DEFAULT_STORE_DEADLINE_MS, printable, quoted } from '../../../core/base/index.ts';
import { write, type Session, UsageError } from '../../answers/session.ts';
import { accessLog, DEFAULT_LIMITS, type Service, type ServiceLimits } from '../../serve/exchange.ts';
import { AllowedHosts } from '../../serve/own-site.ts';
import { loadPromClient, Metrics, type PromClient } from '../../serve/metrics.ts';
import { type RunningServer, type ServerOptions, startServer } from '../../serve/server.ts';

const DEFAULT_HOST = '127.0.0.1';
/** Recalls RFC 9309, and is close to 8080, the usual port of local services. */
const DEFAULT_PORT = 8309;
/** Maximum number of concurrent fetches. */
const CONCURRENCY = 320;

/** Serves until Ctrl-C (exit code 130) or SIGTERM (0). It first responds to the requests in progress. */
export async function serve(
  given: ParsedArguments,
  session: Session,
  load: () => Promise<PromClient | undefined> = loadPromClient,
  limits: ServiceLimits = DEFAULT_LIMITS,
): Promise<ExitCode> {
  assertNoOperand(given);
  const address = { host: given.values.get('host')?.[0] ?? DEFAULT_HOST, port: readPort(given) };
  const hosts = new AllowedHosts(address.host, given.values.get('allow-host') ?? []);
  const settings = onlineSettings(given);
  const prom = await load();
  const opened = await openClient(settings, session, {
    concurrency: CONCURRENCY,
    // Crawlers wait for the service.
    storeDeadlineMs: DEFAULT_STORE_DEADLINE_MS,
    // Others may reach this service. It must not give them access to the private network of its host.
    addressPolicy: given.switches.has('allow-private') ? 'any' : 'public-only',
  });
  const { client } = opened;
  // Log rotation sends SIGHUP. Without evidence SIGHUP ends the process.
  const stopListening = settings.evidence && session.onSignal?.('SIGHUP', () => opened.evidence?.reopen());
  const stopping = new AbortController();
  const { profile, agents } = settings;
  const metrics = prom && new Metrics(prom, client, opened.evidence);
  const service: Service = {
    client,
    profile,
    agents,
    metrics,
    stopping: stopping.signal,
    largeAnswers: 0,
    limits,
    bookings: new Map(),
  };
  const log = (line: string): void => void session.stderr.write(line);
  const onError = (error: unknown): void => log(`canfetch: ${stackOf(error)}\n`);
  const onAnswered = accessLog(log, given.switches.has('log'));
  try {
    const server = await listen({ ...address, hosts, service, onError, onAnswered });
    try {
      // Before the address is printed: a signal may come at once.
      const shutdown = waitForShutdown(session);
      await write(session.stdout, `canfetch serves at ${printable(server.url)}\n`);
      await shutdown;
    } finally {
      stopping.abort();
      await server.close();
    }
  } finally {
    if (stopListening) stopListening();
    metrics?.close();
    await opened[Symbol.asyncDispose]();
  }
  return exitCode.success;
}

async function listen(options: ServerOptions): Promise<RunningServer> {
  try {
    return await startServer(options);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    const { host, port } = options;
    const hint =
      error.code === 'EADDRINUSE' ? 'the port is in use; give another --port, or 0' : String(error.code);
    throw new UsageError(`Expected an address to listen on, got ${quoted(host)} port ${port}; ${hint}`, {
      cause: error,
    });
  }
}

/** @throws UsageError when `--port` is not a whole number from 0 to 65535. */
function readPort(given: ParsedArguments): number {
  return readWholeNumber(given, 'port', 0, 65_535) ?? DEFAULT_PORT;
}
