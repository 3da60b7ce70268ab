import { Conduct, type EarlyStart } from '../../../extras/evidence/conduct.ts';
import {
  refusalOf,
  RequestOutcomes,
  type RequestRow,
  sentBy,
} from '../../../extras/evidence/request-outcomes.ts';
import type { AlthoughRefusedLine, ConductReportLine, EarlyStartLine } from '../../answers/schema/lines.ts';
import { jsonLine, printable } from '../../../core/base/index.ts';
import { delayName } from '../../../core/pacing/index.ts';
import { count, duration, type Palette } from '../../answers/text/layout.ts';
import { whyOf } from './decision-list.ts';
import type { Style, View } from './views.ts';

/** Requests that were sent too early, or although they were refused. */
export function conductView({ isJson, colours }: Style): View {
  // Rotated files of a run have one.
  const byRun = new Map<string, Conduct>();
  const byFile = new Map<string, Conduct>();
  const outcomes = new RequestOutcomes();
  let early = 0;
  let refused = 0;
  const conductOf = (file: string, run: string): Conduct => {
    const conduct = byRun.get(run) ?? byFile.get(file) ?? new Conduct();
    byRun.set(run, conduct);
    byFile.set(file, conduct);
    return conduct;
  };
  const sum = (name: 'requests' | 'unknown'): number =>
    [...new Set(byRun.values())].reduce((total, conduct) => total + conduct[name], 0);
  const refusedText = (row: RequestRow | undefined): string => {
    const found = row && sentAlthoughRefused(row);
    if (found === undefined) return '';
    refused++;
    return isJson
      ? jsonLine<AlthoughRefusedLine>({ kind: 'although-refused', ...found })
      : althoughRefusedText(found, colours);
  };
  return {
    subject: 'requests',
    judged: () => sum('requests'),
    isNegative: () => early + refused > 0,
    took(file, line) {
      const found = conductOf(file, line.entry.run).add(file, line);
      early += found.length;
      const texts = found.map((each) =>
        isJson ? jsonLine<EarlyStartLine>({ kind: 'early', ...each }) : earlyText(each, colours),
      );
      return texts.join('') + refusedText(outcomes.add(file, line));
    },
    finish() {
      const listed = Array.from(outcomes.finish(), refusedText).join('');
      const [requests, unknown] = [sum('requests'), sum('unknown')];
      if (isJson)
        return listed + jsonLine<ConductReportLine>({ kind: 'conduct', requests, early, refused, unknown });
      const found = early === 0 ? 'none too early' : `${early.toLocaleString('en')} too early`;
      const against = refused === 0 ? '' : `, ${refused.toLocaleString('en')} sent although refused`;
      const note =
        unknown === 0 ? '' : `; of ${unknown.toLocaleString('en')} the site’s own delay is not known`;
      return `${listed}${count(requests, 'request')}: ${found}${against}${note}\n`;
    },
  };
}

/** A request that was sent too early. */
function earlyText(early: EarlyStart, colours: Palette): string {
  const { file, line, url, startedAt, earliestAt, reason } = early;
  const byMs = earliestAt - startedAt;
  const by = byMs < 1_000 ? `${Math.ceil(byMs)} ms` : duration(byMs);
  return `${colours.bad('TOO EARLY')}  ${printable(url)}  ${printable(file)}, line ${line}
  sent at ${new Date(startedAt).toISOString()}, ${by} before the end of ${delayName(reason)}\n`;
}

/** A request that was sent although it was refused: by a guard in a dry run, or without a check. */
function sentAlthoughRefused(
  row: RequestRow,
): Omit<AlthoughRefusedLine, 'schemaVersion' | 'kind'> | undefined {
  const refusal = refusalOf(row);
  const sent = sentBy(row);
  if (refusal === undefined || sent === undefined) return undefined;
  const { file, line, outcomeLine = line } = row;
  return {
    file,
    line: outcomeLine,
    decisionLine: line,
    url: sent.url,
    startedAt: sent.startedAt,
    refusal,
    why: whyOf(row),
  };
}

function althoughRefusedText(
  { file, line, url, startedAt, why }: Omit<AlthoughRefusedLine, 'schemaVersion' | 'kind'>,
  colours: Palette,
): string {
  return `${colours.bad('ALTHOUGH REFUSED')}  ${printable(url)}  ${printable(file)}, line ${line}
  sent at ${new Date(startedAt).toISOString()}: ${printable(why)}\n`;
}
