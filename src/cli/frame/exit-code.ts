/**
 * What the process tells its caller. What the first four say in particular is each command's own: it is in its
 * table, and `--help` shows it.
 */
export const exitCode = {
  /** Every URL is allowed, nothing was found, both are the same. */
  success: 0,
  /** At least one URL is disallowed, something was found, there is a difference. */
  negative: 1,
  /** The command was used wrongly, or something it was given is not what it must be. */
  usage: 2,
  /** Not to be decided now, because a robots.txt is unreachable. */
  undecided: 3,
  /** Something broke that should not have: a bug, or a machine in trouble. */
  failure: 70,
  /** Ctrl-C. */
  interrupted: 130,
  /** Whoever read the output went away (`| head`). */
  brokenPipe: 141,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The codes that answers can give. */
export type AnswerExitCode = Exclude<ExitCode, 70 | 130 | 141>;

const lightestFirst: readonly AnswerExitCode[] = [
  exitCode.success,
  exitCode.negative,
  exitCode.undecided,
  exitCode.usage,
];

/**
 * Of two codes the one that counts: input that is wrong outranks answers, and an answer that may change in a minute
 * outranks one that stands.
 */
export function graver(one: AnswerExitCode, other: AnswerExitCode): AnswerExitCode {
  return lightestFirst.indexOf(one) > lightestFirst.indexOf(other) ? one : other;
}
