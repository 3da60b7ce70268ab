import { omitUndefined } from '../../core/base/index.ts';
import { type Decision, type OriginPolicy, type Purpose, usageOf } from '../../core/decision/index.ts';
import type {
  DiagnosticRecord,
  GroupRanges,
  TimelineEvent,
  UsageRecord,
  VerdictRecord,
} from '../answers/schema.ts';
import { describeDiagnostic } from '../../core/rules/lint/findings.ts';
import { explain, lint, type RobotsFile, usage } from '../../core/rules/index.ts';
import { duration } from '../answers/text/layout.ts';
import { groupLines, runnerUpOf } from '../answers/explanation.ts';
import { type Profile, refreshAheadAt } from '../../core/lifecycle/index.ts';

/** Makes the verdict of a file for `agent`. `target` is a URL, or a path that starts with `/`. */
export function verdictBy(
  file: RobotsFile,
  target: string,
  agent: string,
  purpose: Purpose | undefined,
): VerdictRecord {
  const { verdict, runnerUp } = explain(file, target, agent);
  const crawlDelayMs = 'group' in verdict ? file.crawlDelay(agent) : undefined;
  return {
    agent,
    ...verdict,
    ...omitUndefined({ crawlDelayMs, runnerUp }),
    ...statedUsage(file, target, agent, purpose),
  };
}

/** Converts a decision to the shape of a verdict. `file` is the file that the decision was made with, if any. */
export function verdictOf(
  decision: Decision,
  file: RobotsFile | undefined,
  purpose: Purpose | undefined,
): VerdictRecord {
  const { agent, allowed, reason, rule, group, crawlDelayMs, url } = decision;
  const runnerUp = runnerUpOf(decision, file);
  return {
    ...omitUndefined({ agent, allowed, reason, rule, group, crawlDelayMs, runnerUp }),
    ...statedUsage(file, url, agent, purpose),
  };
}

/** The statements of `file` about the use of `target`. Without a purpose: `undefined` when there are none. */
export function statedUsage(
  file: RobotsFile | undefined,
  target: string,
  agent: string,
  purpose?: Purpose,
): { readonly usage?: UsageRecord } {
  if (purpose !== undefined) return { usage: usageOf({ url: target, agent }, file, purpose) };
  if (file === undefined) return {};
  const stated = usage(file, target, agent);
  return stated.sources.length === 0 ? {} : { usage: stated };
}

/** Lints a file, and adds a message and a hint to each diagnostic. */
export function diagnosticsOf(file: RobotsFile): DiagnosticRecord[] {
  return lint(file).map((diagnostic) => ({
    ...diagnostic,
    ...describeDiagnostic(diagnostic),
  }));
}

/** Maximum number of runs in a response. A hostile file can scatter each of a hundred groups over all of its lines. */
const MAX_RANGES = 20_000;

/** Lists the lines of every group that applies to one of `verdicts`. */
export function groupRanges(file: RobotsFile, verdicts: Iterable<VerdictRecord>): GroupRanges[] {
  const found = new Map<string, GroupRanges>();
  let room = MAX_RANGES;
  for (const { agent, group } of verdicts) {
    if (group === undefined || found.has(group.agent)) continue;
    const all = rangesOf(groupLines(file, agent));
    const ranges = all.slice(0, room);
    const omitted = all.length - ranges.length;
    found.set(group.agent, { agent: group.agent, ranges, ...(omitted === 0 ? {} : { omitted }) });
    room -= ranges.length;
  }
  return [...found.values()];
}

function rangesOf(lines: ReadonlySet<number>): (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  for (const line of [...lines].sort((one, other) => one - other)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === line - 1) last[1] = line;
    else ranges.push([line, line]);
  }
  return ranges;
}

/** Lists the past events in the state of an origin, and the future ones that follow if nothing else happens. */
export function timeline(policy: OriginPolicy, profile: Profile): TimelineEvent[] {
  return [...answerEvents(policy), ...failureEvents(policy, profile), ...siteEvents(policy)].sort(
    (one, other) => one.at - other.at,
  );
}

function answerEvents({ lifetime, attempt, failure, file, state }: OriginPolicy): TimelineEvent[] {
  const copy =
    file !== undefined && (state === 'last-good' || lifetime === undefined)
      ? [event(file.fetchedAt, 'copy', `${file.sizeBytes} bytes`)]
      : [];
  if (lifetime === undefined) return copy;
  const { fetchedAt, staleAt, jitterMs = 0 } = lifetime;
  const status = failure === undefined ? attempt?.hops.at(-1)?.status : undefined;
  const confirmed = failure === undefined && attempt?.kind === 'not-modified';
  return [
    ...copy.filter(({ at }) => at !== fetchedAt),
    event(
      fetchedAt,
      confirmed ? 'confirmed' : 'answered',
      status === undefined ? undefined : `status ${status}`,
    ),
    // After a failure, the retry time alone determines the next attempt.
    ...(failure === undefined ? [event(Math.ceil(refreshAheadAt(lifetime)), 'refresh-ahead')] : []),
    event(
      staleAt,
      'stale',
      jitterMs < 60_000 ? undefined : `${duration(jitterMs)} early, so that many do not expire together`,
    ),
  ];
}

function failureEvents({ failure, file }: OriginPolicy, profile: Profile): TimelineEvent[] {
  if (failure === undefined) return [];
  const { since, at, attempts, retryAt, error, status } = failure;
  const cause = status === undefined ? error : `status ${status}`;
  const treatments = profile.whileUnreachable.map((phase) =>
    file === undefined ? phase.withoutCopy : phase.withCopy,
  );
  return [
    event(since, 'first-failure', attempts === 1 ? cause : undefined),
    ...(attempts === 1 ? [] : [event(at, 'last-failure', `${cause}, ${attempts} in a row`)]),
    event(retryAt, 'retry'),
    ...profile.whileUnreachable.flatMap(({ untilMs }, index) => {
      const next = treatments[index + 1];
      // A phase with the same treatment as the one before it gives no event.
      if (untilMs === null || next === undefined || next === treatments[index]) return [];
      return [event(since + untilMs, 'phase', next)];
    }),
  ];
}

function siteEvents({ site }: OriginPolicy): TimelineEvent[] {
  return site === undefined ? [] : [event(site.at, 'site', site.reachable ? 'reachable' : 'not reachable')];
}

function event(at: number, name: TimelineEvent['event'], detail?: string): TimelineEvent {
  return omitUndefined({ at, event: name, detail });
}
