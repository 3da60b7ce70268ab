import { isRobotsError } from '../../base/errors.ts';
import { originOf } from '../../url/origin.ts';
import { type InputError, tooLongError } from '../../report/ruling.ts';
import type { Target } from '../../report/input/targets.ts';

/** An origin to be asked, or a line that names none. */
export type OriginTarget =
  { readonly origin: string } | { readonly target: Target; readonly error: InputError };

/** What is remembered of a list, so that its length costs no memory: some hundred megabytes at worst. */
const MAX_REMEMBERED = 1_000_000;

/** The origins of `targets`, each once. `onRead` is told of every target. */
export async function* distinctOrigins(
  targets: AsyncIterable<Target>,
  onRead: () => void,
  maxRemembered: number = MAX_REMEMBERED,
): AsyncGenerator<OriginTarget, void, undefined> {
  const seen = new Set<string>();
  for await (const target of targets) {
    onRead();
    const found = originTarget(target);
    if ('origin' in found) {
      if (seen.has(found.origin)) continue;
      seen.add(found.origin);
      // The one that came first goes first.
      if (seen.size > maxRemembered) seen.delete(seen.values().next().value ?? '');
    }
    yield found;
  }
}

function originTarget(target: Target): OriginTarget {
  if (target.tooLong === true) return { target, error: tooLongError };
  try {
    return { origin: originOf(target.input) };
  } catch (error) {
    if (!isRobotsError(error)) throw error;
    return { target, error: { code: error.code, message: error.message } };
  }
}
