/**
 * Exit codes of the process. Each command defines what the first four mean for it; its table holds the meanings,
 * and `--help` shows them.
 */
export const exitCode = {
  /** Every URL is allowed, no problem was found, or the files are equal. */
  success: 0,
  /** At least one URL is disallowed, a problem was found, or the files differ. */
  negative: 1,
  /** The command was used wrongly, or its input is invalid. */
  usage: 2,
  /** At least one decision is unknown for now, because a robots.txt is unreachable. */
  undecided: 3,
  /** Internal error: a bug, or a failure of the machine such as a full disk. */
  failure: 70,
  /** Interrupted by Ctrl-C (128 + SIGINT). */
  interrupted: 130,
  /** The reader of standard output closed the pipe (`| head`). */
  brokenPipe: 141,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The exit codes that answers can produce. */
export type AnswerExitCode = Exclude<ExitCode, 70 | 130 | 141>;

const lightestFirst: readonly AnswerExitCode[] = [
  exitCode.success,
  exitCode.negative,
  exitCode.undecided,
  exitCode.usage,
];

/**
 * Returns the code with the higher rank: invalid input outranks every answer, and an undecided answer outranks a
 * final one.
 */
export function worseOf(one: AnswerExitCode, other: AnswerExitCode): AnswerExitCode {
  return lightestFirst.indexOf(one) > lightestFirst.indexOf(other) ? one : other;
}
