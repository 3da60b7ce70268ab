import { DEFAULT_CONCURRENCY, isRobotsError, mapBatches, jsonLine, count } from '../../../core/base/index.ts';
import type { Decision } from '../../../core/decision/index.ts';
import { type Target, targetLines, type TargetResult, tooLongError } from '../../answers/input/targets.ts';
import { isUndecided } from '../../answers/verdict.ts';
import { openList } from '../../answers/input/load-robots.ts';
import type { Session } from '../../answers/session.ts';
import { cause, looksNote } from '../../answers/text/sentences.ts';
import { DistinctOrigins, originOf } from '../../../core/url/index.ts';
import { type ParsedArguments, type ExitCode, exitCode } from '../frame/command.ts';
import { type Kind, type ListLayout, writeList } from '../frame/list-report.ts';
import { openClient } from '../frame/open-client.ts';
import { onlyOperand, readFormat, readWholeNumber, onlineSettings } from '../frame/settings.ts';

const MAX_CONCURRENCY = 1_024;

/** A small cache is enough: each origin is asked once, and only redirects between sites read it again. */
const CACHE = { maxOrigins: 10_000, maxBytes: 32 * 1_048_576 };

/** Fetches the robots.txt of each origin once, and prints a line for each. */
export async function prefetchOrigins(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const list = onlyOperand(given, 'a file of URLs, or "-" for standard input');
  const form = readFormat(given, 'json');
  const concurrency = readWholeNumber(given, 'concurrency', 1, MAX_CONCURRENCY) ?? DEFAULT_CONCURRENCY;
  const settings = onlineSettings(given);
  const { signal } = session;
  const stream = await openList(list, 'a file of URLs', session, signal);
  await using opened = await openClient(settings, session, { concurrency, cache: CACHE });
  const { client } = opened;
  const distinct = new DistinctOrigins();
  let urls = 0;
  const layout = prefetchLayout(() => urls);
  const ask = (target: Target, asking: AbortSignal): Answer | Promise<Answer> | undefined => {
    urls++;
    if (target.tooLong === true) return { target, error: tooLongError };
    try {
      const origin = originOf(target.input);
      if (!distinct.add(origin)) return undefined;
      // The URL of the front page represents the origin. The report leaves out the decision about that page.
      return client
        .check(`${origin}/`, undefined, { signal: asking })
        .then((decision) => ({ target, decision }));
    } catch (error) {
      if (!isRobotsError(error)) throw error;
      return { target, error: { code: error.code, message: error.message } };
    }
  };
  const results = mapBatches(targetLines(stream), { concurrency, signal }, ask);
  return (await writeList(session, layout, { form, isSummed: true }, results)) ?? exitCode.success;
}

type Answer = TargetResult<Decision>;

const kinds = {
  rules: { label: 'RULES', tone: 'good', code: exitCode.success, counted: 'with rules' },
  open: { label: 'OPEN', tone: 'good', code: exitCode.success, counted: 'open' },
  closed: { label: 'CLOSED', tone: 'bad', code: exitCode.success, counted: 'closed' },
  unreachable: {
    label: 'UNREACHABLE',
    tone: 'unsure',
    code: exitCode.undecided,
    counted: 'unreachable',
  },
} as const satisfies Readonly<Record<string, Kind>>;

function kindOf(decision: Decision): Kind {
  if (isUndecided(decision)) return kinds.unreachable;
  if (decision.state === 'rules' || decision.state === 'last-good') return kinds.rules;
  return decision.state === 'allow-all' ? kinds.open : kinds.closed;
}

/** A line for each origin: its state, and the status or the error of its robots.txt. `urls` counts the list. */
function prefetchLayout(urls: () => number): ListLayout<Decision> {
  return {
    kinds: Object.values(kinds),
    kindOf,
    subjectOf: ({ origin }) => origin,
    reasonOf: ({ robots }) => `${cause(robots)}${looksNote(robots.suspect)}`,
    record: lineOf,
    total: (decided) => `${count(decided, 'origin')} of ${count(urls(), 'URL')}`,
  };
}

function lineOf(result: TargetResult<Decision>): string {
  if ('error' in result) {
    const { input, line } = result.target;
    return jsonLine({ input, line, error: result.error });
  }
  const { origin, state, reason, robots, retryAt } = result.decision;
  const { finalUrl, hops, status, error, fetchedAt, staleAt, source, suspect } = robots;
  return jsonLine({
    origin,
    state,
    reason: state === 'rules' || state === 'last-good' ? undefined : reason,
    status,
    error,
    fetchedAt,
    staleAt,
    source,
    ...(hops === 0 ? {} : { hops, finalUrl }),
    retryAt,
    suspect,
  });
}
