import { fstatSync } from 'node:fs';

/**
 * Measures the share of a list that was read so far, from 0 to 1. The returned function gives `undefined` when the
 * list is not a regular file, for example a pipe.
 *
 * @param list The stream of the list. A file stream has `fd` and `bytesRead`.
 */
export function listShare(list: object): () => number | undefined {
  const fd: unknown = Reflect.get(list, 'fd');
  const sizeBytes = typeof fd === 'number' && 'bytesRead' in list ? sizeOf(fd) : 0;
  return () => {
    const read: unknown = Reflect.get(list, 'bytesRead');
    return sizeBytes > 0 && typeof read === 'number' ? read / sizeBytes : undefined;
  };
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
