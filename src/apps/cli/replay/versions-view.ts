import type { Bodies } from '../../../extras/evidence/recorded-run.ts';
import type { FileVersionLine } from '../../answers/schema/lines.ts';
import { jsonLine, omitUndefined, printable } from '../../../core/base/index.ts';
import { count, instant } from '../../answers/text/layout.ts';
import type { Style, View } from './views.ts';

/** One version of an origin's robots.txt, or the time in which it had none. */
type FileVersion = Omit<FileVersionLine, 'schemaVersion' | 'kind' | 'until'> & { until: number };

/** A version of a file, in a line. */
function versionText({ origin, from, until, sha256, outcome, status }: FileVersion, bodies: Bodies): string {
  const size = sha256 === undefined ? undefined : bodies.get(sha256)?.length;
  const bytes = size === undefined ? '' : `  ${count(size, 'byte')}`;
  const what = sha256 === undefined ? `${outcome} (${status})` : `${sha256}${bytes}`;
  return `${instant(from)} to ${instant(until)}  ${printable(origin)}  ${what}\n`;
}

function isSame(one: FileVersion, other: FileVersion): boolean {
  return one.sha256 === other.sha256 && one.outcome === other.outcome && one.status === other.status;
}

/** The versions of the files, of one origin or all. */
export function versionsView({ isJson }: Style, wanted: string | undefined): View {
  const byOrigin = new Map<string, FileVersion[]>();
  let many = 0;
  /** An unreachable file is no other version: the last good one stays in force. */
  const see = (version: FileVersion): void => {
    const known = byOrigin.get(version.origin);
    const latest = known?.at(-1);
    if (latest !== undefined && isSame(latest, version)) {
      latest.until = Math.max(latest.until, version.until);
      return;
    }
    many++;
    if (known === undefined) byOrigin.set(version.origin, [version]);
    else known.push(version);
  };
  return {
    subject: 'versions',
    judged: () => many,
    took(_file, { entry }) {
      if (!('origin' in entry) || (wanted ?? entry.origin) !== entry.origin) return '';
      const { at, origin } = entry;
      if ('outcome' in entry && entry.outcome !== 'unreachable') {
        const { sha256, status, outcome } = entry;
        const ofFile = outcome === 'success' || outcome === 'not-modified';
        see({
          origin,
          from: entry.type === 'stored' ? entry.fetchedAt : at,
          until: at,
          ...(ofFile ? omitUndefined({ sha256 }) : omitUndefined({ outcome, status })),
        });
      } else if (entry.type === 'decision' && entry.by !== undefined) {
        const { sha256, reason } = entry;
        // It may rest on a version that was replaced while its request waited.
        const version = [...(byOrigin.get(origin) ?? [])]
          .reverse()
          .find(
            (each) =>
              each.from <= at && each.sha256 === sha256 && (sha256 !== undefined || each.outcome === reason),
          );
        if (version !== undefined) version.until = Math.max(version.until, at);
      }
      return '';
    },
    finish: (_report, bodies) =>
      [...byOrigin.values()]
        .flat()
        .sort((one, other) => one.from - other.from)
        .map((version) =>
          isJson ? jsonLine<FileVersionLine>({ kind: 'version', ...version }) : versionText(version, bodies),
        )
        .join(''),
  };
}
