import type { AttemptEntry, EvidenceLine } from '../../core/client/evidence/entry.ts';

/** One version of an origin's robots.txt, or the time in which it had none. Times in epoch ms. */
export interface FileVersion {
  readonly origin: string;
  /** When it was first seen. */
  readonly from: number;
  /** When it was last seen. */
  until: number;
  /** Absent: there was no file. */
  readonly sha256?: string;
  /** The status of the response, if an attempt saw it. */
  readonly status?: number;
}

/** Lists the versions of the files of all origins, from the entries in their order. */
export class FileVersions {
  readonly #versions: FileVersion[] = [];
  readonly #latest = new Map<string, FileVersion>();

  get all(): readonly FileVersion[] {
    return this.#versions;
  }

  add(entry: EvidenceLine): void {
    if (entry.type === 'stored') {
      const { at, origin, sha256, record } = entry;
      if (record.answer !== undefined) this.#see({ origin, from: at, until: at, ...(sha256 && { sha256 }) });
    } else if (entry.type === 'robots' && 'outcome' in entry && entry.outcome !== 'unreachable') {
      this.#see(versionOf(entry));
    }
  }

  /** An unreachable file is no other version: the last good one stays in force. */
  #see(version: FileVersion): void {
    const latest = this.#latest.get(version.origin);
    if (latest !== undefined && latest.sha256 === version.sha256) {
      latest.until = version.until;
      return;
    }
    this.#latest.set(version.origin, version);
    this.#versions.push(version);
  }
}

function versionOf({ at, origin, sha256, status }: AttemptEntry): FileVersion {
  return { origin, from: at, until: at, ...(sha256 && { sha256 }), ...(status && { status }) };
}
