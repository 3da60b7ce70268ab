import { fstatSync } from 'node:fs';
import type { Target } from './targets.ts';

/** How far the work on a list has come. */
export class ListPosition {
  readonly #octets: number;
  #end = 0;
  #line = 0;

  /** @param list The stream of the list. A file stream has `fd`. */
  constructor(list: object) {
    const fd: unknown = Reflect.get(list, 'fd');
    this.#octets = typeof fd === 'number' ? sizeOf(fd) : 0;
  }

  /** Notes that the work has come to the line of `target`. */
  reach({ line, end }: Target): void {
    this.#line = line ?? this.#line;
    this.#end = end ?? this.#end;
  }

  /** The last line that was reached; 0 before the first. */
  get line(): number {
    return this.#line;
  }

  /** The share of the list up to that line, from 0 to 1; `undefined` when the list is no regular file, such as a pipe. */
  get share(): number | undefined {
    return this.#octets > 0 ? Math.min(1, this.#end / this.#octets) : undefined;
  }
}

/** Size of a regular file in octets; 0 for anything else. */
function sizeOf(fd: number): number {
  try {
    const stats = fstatSync(fd);
    return stats.isFile() ? stats.size : 0;
  } catch {
    return 0;
  }
}
