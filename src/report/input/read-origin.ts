import { originOf } from '../../url/index.ts';
import { isRobotsError } from '../../base/index.ts';
import { printable, quoted } from '../text/printable.ts';
import { UsageError } from '../usage-error.ts';

/** Whether an operand is a URL rather than a file name. */
export function isUrl(operand: string): boolean {
  return /^(?:https?|ftp):\/\//i.test(operand);
}

/**
 * Reads the origin of a URL.
 *
 * @throws UsageError when the operand is not a valid URL.
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

/** The hint for an operand that looks like a host name without a scheme. */
export function didYouMean(operand: string): string {
  const looksLikeHost = /^[\w-]+(?:\.[\w-]+)+(?:[:/?#]|$)/.test(operand);
  return looksLikeHost ? `; did you mean "https://${printable(operand)}"?` : '';
}
