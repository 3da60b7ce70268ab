import { mapConcurrent } from '../../base/index.ts';
import { decideOffline, type Decider, type Session, UsageError } from '../../report/index.ts';
import type { Command, ParsedArguments } from '../frame/command.ts';
import { CheckReport } from './check-report.ts';
import { decideOnline } from './decide-online.ts';
import { type ExitCode, exitCode } from '../frame/exit-code.ts';
import { targets } from '../../report/input/index.ts';
import { interruptible } from '../frame/interruptible.ts';
import { onlineSettings } from '../frame/open-client.ts';
import {
  agentOption,
  deadlineOption,
  profileOption,
  proxyOption,
  robotsOption,
  storeOption,
} from '../frame/options.ts';

/** URLs under way at a time. The client bounds its fetches by itself; this bounds what waits for them. */
const IN_ORDER = { concurrency: 512, ordered: true };
const STDIN = '-';

/** `canfetch check`: one answer per URL, in the order of the URLs. */
export const check: Command = {
  name: 'check',
  summary: 'Say of each URL whether the agent may fetch it, and why',
  operands: 'URL…',
  operandsHelp:
    'URL is an absolute http, https or ftp URL; "-" reads them from standard input, one per line,\n' +
    'without blank lines and lines that start with "#". With --robots it may also be a path such as /a?b.',
  options: [
    agentOption,
    robotsOption,
    profileOption,
    deadlineOption,
    proxyOption,
    storeOption,
    { name: 'json', help: 'one JSON object per line instead of text for people' },
    { name: 'quiet', short: 'q', help: 'print no answers; the exit code tells' },
  ],
  examples: [
    { line: 'canfetch -a ExampleBot/1.0 https://example.com/page', does: 'may ExampleBot fetch this page?' },
    { line: 'canfetch check --json - < urls.txt > decisions.ndjson', does: 'decide a list of URLs' },
    {
      line: 'canfetch check --robots draft.txt -a ExampleBot /private/a',
      does: 'try a robots.txt before it is served',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'every URL is allowed' },
    { code: exitCode.negative, says: 'at least one is disallowed' },
    {
      code: exitCode.undecided,
      says: 'at least one is undecided, because robots.txt is unreachable (outranks 1)',
    },
    {
      code: exitCode.usage,
      says: 'wrong usage, or a URL that is none; the others are still answered (outranks 1 and 3)',
    },
  ],
  notes: [],
  run,
};

async function run(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const readsStdin = assertUsable(given);
  return interruptible(session, { readsStdin }, async (signal) => {
    const report = new CheckReport(given, session);
    let decider: Decider | undefined;
    try {
      const ready = await deciderFor(given, session, signal);
      decider = ready;
      const inputs = targets(given.operands, session.stdin);
      for await (const answer of mapConcurrent(inputs, IN_ORDER, (target) => ready.decide(target))) {
        await report.add(answer);
      }
      signal.throwIfAborted();
      return await report.finish();
    } finally {
      report.leave();
      await decider?.close();
    }
  });
}

/** Whether standard input is read. */
function assertUsable({ operands, switches, values }: ParsedArguments): boolean {
  if (operands.length === 0) {
    throw new UsageError('Expected at least one URL, or "-" to read them from standard input, got none');
  }
  if (switches.has('json') && switches.has('quiet')) {
    throw new UsageError('Expected either --json or --quiet, got both; leave one of them out');
  }
  const fromStdin = operands.filter((operand) => operand === STDIN).length;
  if (fromStdin > 1)
    throw new UsageError('Expected "-" once, got it again; standard input can be read only once');
  const robotsFromStdin = values.get('robots')?.[0] === STDIN;
  if (fromStdin > 0 && robotsFromStdin) {
    throw new UsageError(
      'Expected "-" either for --robots or for the URLs, got both; put one of them into a file',
    );
  }
  return fromStdin > 0 || robotsFromStdin;
}

function deciderFor(given: ParsedArguments, session: Session, signal: AbortSignal): Promise<Decider> {
  const settings = onlineSettings(given);
  const file = given.values.get('robots')?.[0];
  if (file === undefined) return decideOnline(settings, session, signal);
  const warn = (message: string): void => void session.stderr.write(`canfetch: ${message}\n`);
  const { agents, profile } = settings;
  return decideOffline({ agents, profile, file, stdin: session.stdin, warn });
}
