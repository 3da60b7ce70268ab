/** `.`, relative to the digit 0. */
const POINT = -2;

/** Converts decimal seconds, such as those of `Crawl-delay`, to ms: at most one year; -1 for any other text. */
export function secondsToMs(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > 32) return -1;
  let number = 0;
  /** What to divide the number by; 0 before the point. */
  let divisor = 0;
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit === POINT && divisor === 0) divisor = 1;
    else if (digit < 0 || digit > 9) return -1;
    else {
      number = number * 10 + digit;
      divisor *= 10;
    }
  }
  // No digit: nothing, or the point alone.
  return end - start <= (divisor === 1 ? 1 : 0)
    ? -1
    : Math.min(Math.round((number / (divisor || 1)) * 1000), 31_536_000_000);
}
