import { omitUndefined } from '../../core/base/index.ts';
import { type Decision, type Purpose, usageOf } from '../../core/decision/index.ts';
import type { UsageRecord, VerdictRecord } from '../answers/schema/decision.ts';
import type { FileParts, GroupRanges } from '../answers/schema/explanation.ts';
import type { DiagnosticRecord } from '../answers/schema/policy.ts';
import { describeDiagnostic } from '../../core/rules/lint/findings.ts';
import { explain, lint, type RobotsFile, usage } from '../../core/rules/index.ts';
import { groupLines, linesOf, runnerUpOf } from '../answers/explanation.ts';

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

/** The parts of a file that a display needs: lines, groups, records and diagnostics. */
export function fileParts(file: RobotsFile, verdicts: readonly VerdictRecord[]): FileParts {
  const { groups, sitemaps, otherRecords, bytes } = file;
  return {
    lines: linesOf(bytes),
    groups,
    otherRecords,
    sitemaps,
    diagnostics: diagnosticsOf(file),
    groupRanges: groupRanges(file, verdicts),
  };
}
