import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own, in memory. */
export interface SmallDisk extends Disposable {
  readonly path: string;
  /** Leaves no byte free. */
  fill(): void;
}

/** `undefined` where this process may not mount one, and a line that says so. */
export function smallDisk(kib: number): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), 'canfetch-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k`, 'tmpfs', path]);
  if (status !== 0) {
    rmSync(path, { recursive: true });
    console.log('skipped: no file system may be mounted here, so there is no full disk');
    return undefined;
  }
  return {
    path,
    fill() {
      for (const [name, bytes] of [
        ['large', kib * 1_024],
        ['rest', 65_536],
      ] as const) {
        try {
          writeFileSync(join(path, name), Buffer.alloc(bytes));
        } catch {
          // The part that fits was written.
        }
      }
    },
    [Symbol.dispose]() {
      spawnSync('umount', ['-l', path]);
      rmSync(path, { recursive: true });
    },
  };
}
