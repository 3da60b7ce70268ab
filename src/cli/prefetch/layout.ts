import type { Decision } from '../../decision/index.ts';
import { isUndecided, type TargetResult } from '../../report/index.ts';
import { cause, count, jsonLine } from '../../report/text/index.ts';
import type { LineError, PrefetchLine } from '../../report/schema.ts';
import { exitCode } from '../frame/exit-code.ts';
import type { Kind, ListLayout } from '../frame/list-report.ts';

const kinds = {
  rules: { label: 'RULES', style: 'good', code: exitCode.success, counted: 'with rules' },
  open: { label: 'OPEN', style: 'good', code: exitCode.success, counted: 'open' },
  closed: { label: 'CLOSED', style: 'bad', code: exitCode.success, counted: 'closed' },
  unreachable: {
    label: 'UNREACHABLE',
    style: 'unsure',
    code: exitCode.undecided,
    counted: 'unreachable',
  },
} as const satisfies Readonly<Record<string, Kind>>;

function kindOf(decision: Decision): Kind {
  if (isUndecided(decision)) return kinds.unreachable;
  if (decision.state === 'rules' || decision.state === 'last-good') return kinds.rules;
  return decision.state === 'allow-all' ? kinds.open : kinds.closed;
}

/** A line for each origin: what holds there, and the status or the error of its robots.txt. `urls` counts the list. */
export function prefetchLayout(urls: () => number): ListLayout<Decision> {
  return {
    kinds: Object.values(kinds),
    kindOf,
    subjectOf: ({ origin }) => origin,
    reasonOf: ({ robots }) => cause(robots),
    record: lineOf,
    total: (decided) => `${count(decided, 'origin')} of ${count(urls(), 'URL')}`,
  };
}

function lineOf(result: TargetResult<Decision>): string {
  if ('error' in result) {
    const { input, line } = result.target;
    return jsonLine<LineError>({ input, line, error: result.error });
  }
  const { origin, state, reason, robots, retryAt } = result.decision;
  const { finalUrl, hops, status, error, fetchedAt, staleAt, source, suspect } = robots;
  return jsonLine<PrefetchLine>({
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
