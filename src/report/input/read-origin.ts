import { originOf } from '../../url/index.ts';
import { isRobotsError } from '../../base/index.ts';
import { printable, quoted } from '../text/printable.ts';
import { UsageError } from '../usage-error.ts';

/** Whether an operand means an origin rather than a file. */
export function isUrl(operand: string): boolean {
  return /^(?:https?|ftp):\/\//i.test(operand);
}

/**
 * The origin of a URL.
 *
 * @throws UsageError when it is none.
 */
export function readOrigin(operand: string): string {
  try {
    return originOf(operand);
  } catch (error) {
    if (!isRobotsError(error)) throw error;
    throw new UsageError(
      `Expected an origin such as https://example.com, got ${quoted(operand)}${didYouMean(operand)}`,
      { cause: error },
    );
  }
}

/** What is said of a host name that stands alone. */
export function didYouMean(operand: string): string {
  const looksLikeHost = /^[\w-]+(?:\.[\w-]+)+(?:[:/?#]|$)/.test(operand);
  return looksLikeHost ? `; did you mean "https://${printable(operand)}"?` : '';
}
