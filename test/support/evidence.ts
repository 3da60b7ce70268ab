import type { EvidenceEntry } from '../../src/core/client/evidence/entry.ts';
import {
  evidenceLine,
  replay,
  type ReplayDifference,
  type ReplayOptions,
  type ReplayReport,
} from '../../src/extras/evidence/index.ts';
import { Conduct, type EarlyStart } from '../../src/extras/evidence/conduct.ts';
import { Replay } from '../../src/extras/evidence/replay.ts';

/** Collects the entries of clients, and gives them as the lines of one file. */
export class Recording {
  readonly entries: EvidenceEntry[] = [];
  readonly listener = (entry: EvidenceEntry): void => void this.entries.push(entry);

  /** The lines as `evidenceFile` writes them, but for the end of a run: a body once. */
  lines(): string[] {
    const digests = new Set<string>();
    return this.entries.map((entry) => evidenceLine(entry, digests).trimEnd());
  }

  ofType<Type extends EvidenceEntry['type']>(type: Type): Extract<EvidenceEntry, { type: Type }>[] {
    return this.entries.filter(
      (entry): entry is Extract<EvidenceEntry, { type: Type }> => entry.type === type,
    );
  }
}

export interface Replayed extends ReplayReport {
  readonly differences: readonly ReplayDifference[];
}

/** Replays lines, and collects the differences. */
export async function replayed(lines: readonly string[], options: ReplayOptions = {}): Promise<Replayed> {
  const differences: ReplayDifference[] = [];
  const report = await replay(lines, { ...options, onDifference: (one) => void differences.push(one) });
  return { ...report, differences };
}

/** The requests of a log that were sent too early. */
export function earlyStarts(lines: readonly string[]): EarlyStart[] {
  const replay = new Replay({});
  const conduct = new Conduct();
  return lines.flatMap((line) => {
    const read = replay.read(line);
    const taken = read && replay.take(read);
    return taken === undefined
      ? []
      : conduct.add('evidence.ndjson', taken).filter((found): found is EarlyStart => 'reason' in found);
  });
}
