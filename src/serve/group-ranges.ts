import { groupLines } from '../report/index.ts';
import type { RobotsFile } from '../rules/index.ts';
import type { GroupRanges, VerdictRecord } from '../report/schema.ts';

/** Maximum number of runs in an answer. A hostile file can scatter each of a hundred groups over all of its lines. */
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
