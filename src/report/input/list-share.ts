import { fstatSync } from 'node:fs';

/**
 * How much of a list was read so far, from 0 to 1; gives `undefined` for what is no file, such as a pipe.
 *
 * @param list A stream of a file tells how many octets it has read, and its descriptor.
 */
export function listShare(list: object): () => number | undefined {
  const fd: unknown = Reflect.get(list, 'fd');
  const sizeBytes = typeof fd === 'number' && 'bytesRead' in list ? sizeOf(fd) : 0;
  return () => {
    const read: unknown = Reflect.get(list, 'bytesRead');
    return sizeBytes > 0 && typeof read === 'number' ? read / sizeBytes : undefined;
  };
}

/** 0 for what has no length. */
function sizeOf(fd: number): number {
  try {
    const stats = fstatSync(fd);
    return stats.isFile() ? stats.size : 0;
  } catch {
    return 0;
  }
}
