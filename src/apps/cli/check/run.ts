import { mapBatches } from '../../../core/base/index.ts';
import { decideOffline, type Decider, type Session, UsageError } from '../../answers/index.ts';
import { ListPosition, readsStdin, targets } from '../../answers/input/index.ts';
import type { ParsedArguments, ExitCode } from '../frame/command.ts';
import { interruptible } from '../frame/interruptible.ts';
import { ListReport } from '../frame/list-report.ts';
import type { Format } from '../frame/options.ts';
import { readForm, readPurpose, onlineSettings } from '../frame/settings.ts';
import { checkLayout, renderDecision } from './render.ts';

/** At most 512 URLs are in progress at once. The client limits its fetches; this limits the URLs that wait for them. */
const IN_ORDER = { concurrency: 512, ordered: true };
const STDIN = '-';

/** Answers each URL, in input order. */
export async function checkUrls(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const readsStdin = readsStandardInput(given);
  const form = readForm(given);
  return interruptible(session, { readsStdin }, async (signal) => {
    const list = new ListPosition(session.stdin);
    const isLong = given.switches.has('long') || (given.operands.length === 1 && given.operands[0] !== STDIN);
    const report = new ListReport(session, isLong ? longLayout : checkLayout, {
      form,
      given,
      share: showsProgress(form, given, session) ? () => list.share : undefined,
    });
    let decider: Decider | undefined;
    try {
      const ready = await deciderFor(given, session, signal);
      decider = ready;
      const inputs = targets(given.operands, session.stdin);
      for await (const results of mapBatches(inputs, IN_ORDER, (target) => ready.decide(target))) {
        const last = results.at(-1);
        if (last !== undefined) list.reach(last.target);
        await report.add(results);
      }
      signal.throwIfAborted();
      return await report.finish();
    } catch (error) {
      const { line } = list;
      // Results are in order, so every line before this one has its result.
      if (session.signal.aborted && line > 0) {
        report.interrupted(`line ${line} of the list; \`tail -n +${line + 1}\` prints the rest of it`);
      }
      throw error;
    } finally {
      report.leave();
      await decider?.close();
    }
  });
}

const longLayout: typeof checkLayout = {
  ...checkLayout,
  long: (decision, colours, width) => renderDecision(decision, colours, { now: Date.now(), width }),
};

/** On a terminal, progress lines would mix with the JSON. */
function showsProgress(form: Format | 'quiet', { operands }: ParsedArguments, { stderr }: Session): boolean {
  return operands.includes(STDIN) && (form === 'text' || (form === 'json' && stderr.isTTY !== true));
}

/**
 * Checks that the arguments can be used together.
 *
 * @returns Whether the command reads standard input.
 * @throws UsageError when they cannot.
 */
function readsStandardInput({ operands, values }: ParsedArguments): boolean {
  if (operands.length === 0) {
    throw new UsageError('Expected at least one URL, or "-" to read them from standard input, got none');
  }
  const listFromStdin = readsStdin(operands);
  const robotsFromStdin = values.get('robots')?.[0] === STDIN;
  if (listFromStdin && robotsFromStdin) {
    throw new UsageError(
      'Expected "-" either for --robots or for the URLs, got both; read one of them from a file',
    );
  }
  return listFromStdin || robotsFromStdin;
}

async function deciderFor(given: ParsedArguments, session: Session, signal: AbortSignal): Promise<Decider> {
  const settings = onlineSettings(given);
  const file = given.values.get('robots')?.[0];
  const purpose = readPurpose(given);
  if (file === undefined) {
    return (await import('./decide-online.ts')).decideOnline(settings, session, signal, purpose);
  }
  if (settings.evidence !== undefined) {
    throw new UsageError(
      'Expected either --evidence or --robots, got both: evidence is of what was fetched; leave one of them out',
    );
  }
  const warn = (message: string): void => void session.stderr.write(`canfetch: ${message}\n`);
  const { agents, profile } = settings;
  return decideOffline({ agents, profile, file, stdin: session.stdin, warn, purpose });
}
