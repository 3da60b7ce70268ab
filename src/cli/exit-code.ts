/**
 * What the process tells its caller. `check` gives the first of these that holds, read in the order
 * `usage`, `undecided`, `disallowed`, `allowed`: input that is wrong outranks answers, and an answer that may
 * change in a minute outranks one that stands.
 */
export const exitCode = {
  /** Every URL is allowed. */
  allowed: 0,
  /** At least one URL is disallowed, by a rule or because the whole site is restricted. */
  disallowed: 1,
  /** The command was used wrongly, or one of the URLs is none. */
  usage: 2,
  /** At least one URL is undecided, because robots.txt is unreachable. */
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
  exitCode.allowed,
  exitCode.disallowed,
  exitCode.undecided,
  exitCode.usage,
];

/** Of two codes the one that counts. */
export function graver(one: AnswerExitCode, other: AnswerExitCode): AnswerExitCode {
  return lightestFirst.indexOf(one) > lightestFirst.indexOf(other) ? one : other;
}
