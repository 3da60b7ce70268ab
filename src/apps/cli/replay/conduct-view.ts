import { type AgainstRefusal, Conduct, type EarlyStart } from '../../../extras/evidence/conduct.ts';
import type { AlthoughRefusedLine, ConductReportLine, EarlyStartLine } from '../../answers/schema/lines.ts';
import { jsonLine, printable } from '../../../core/base/index.ts';
import { delayName } from '../../../core/pacing/index.ts';
import { count, duration, type Palette } from '../../answers/text/layout.ts';
import { whyOf } from './decision-list.ts';
import type { Style, View } from './views.ts';

/** Requests that were sent too early, or although they were refused. */
export function conductView({ isJson, colours }: Style): View {
  const conduct = new Conduct();
  const textOf = (found: EarlyStart | AgainstRefusal): string => {
    if (!('refusal' in found))
      return isJson ? jsonLine<EarlyStartLine>({ kind: 'early', ...found }) : earlyText(found, colours);
    const refused = dataOf(found);
    return isJson ? jsonLine<AlthoughRefusedLine>(refused) : althoughRefusedText(refused, colours);
  };
  return {
    subject: 'requests',
    judged: () => conduct.requests,
    isNegative: () => conduct.early + conduct.refused > 0,
    took: (file, line) => conduct.add(file, line).map(textOf).join(''),
    finish() {
      const { requests, early, refused, unknown } = conduct;
      if (isJson) return jsonLine<ConductReportLine>({ kind: 'conduct', requests, early, refused, unknown });
      const found = early === 0 ? 'none too early' : `${early.toLocaleString('en')} too early`;
      const against = refused === 0 ? '' : `, ${refused.toLocaleString('en')} sent although refused`;
      const note =
        unknown === 0 ? '' : `; of ${unknown.toLocaleString('en')} the site’s rules and delay are not known`;
      return `${count(requests, 'request')}: ${found}${against}${note}\n`;
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

type AlthoughRefused = Omit<AlthoughRefusedLine, 'schemaVersion'>;

function dataOf({ refusal, row, sent: { url, startedAt } }: AgainstRefusal): AlthoughRefused {
  const { file, line } = row.outcomeAt ?? row;
  const decided = { decisionFile: row.file, decisionLine: row.line };
  return { kind: 'although-refused', file, line, ...decided, url, startedAt, refusal, why: whyOf(row) };
}

function althoughRefusedText({ file, line, url, startedAt, why }: AlthoughRefused, colours: Palette): string {
  return `${colours.bad('ALTHOUGH REFUSED')}  ${printable(url)}  ${printable(file)}, line ${line}
  sent at ${new Date(startedAt).toISOString()}: ${printable(why)}\n`;
}
