/** Invalid use of the command. The message says what was expected, what came, and what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
