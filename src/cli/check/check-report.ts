import { colourChoice } from '../frame/settings.ts';
import { type TargetResult, isUndecided, isUnwanted, type Session } from '../../report/index.ts';
import {
  count,
  Output,
  type Palette,
  paletteFor,
  type Progress,
  progressOn,
  renderRecord,
} from '../../report/text/index.ts';
import { listShare } from '../../report/input/index.ts';
import type { Format } from '../frame/choices.ts';
import type { ParsedArguments } from '../frame/command.ts';
import { type AnswerExitCode, exitCode, worseOf } from '../frame/exit-code.ts';
import { renderInputError, renderDecision } from './render.ts';

/** Counts of the results so far. */
interface Tally {
  allowed: number;
  disallowed: number;
  /** Allowed, but not wanted for the purpose. */
  unwanted: number;
  undecided: number;
  invalid: number;
}

/** Writes the results of `check` in the form that the options select, and counts them. */
export class CheckReport {
  private readonly session: Session;
  private readonly output: Output;
  private readonly form: Format | 'quiet';
  private readonly colours: Palette;
  private readonly progress: Progress | undefined;
  private lastLine = 0;
  private readonly tally: Tally = { allowed: 0, disallowed: 0, unwanted: 0, undecided: 0, invalid: 0 };
  private code: AnswerExitCode = exitCode.success;

  constructor(form: Format | 'quiet', given: ParsedArguments, session: Session) {
    this.session = session;
    this.output = new Output(session.stdout);
    this.form = form;
    this.colours = paletteFor(session, colourChoice(given));
    // On a terminal, progress lines would mix with the JSON.
    const showsProgress = this.form === 'text' || (this.form === 'json' && session.stderr.isTTY !== true);
    this.progress =
      showsProgress && given.operands.includes('-')
        ? progressOn(session.stderr, listShare(session.stdin))
        : undefined;
  }

  /** Writes results. Resolves when the output has room for more. */
  async add(results: readonly TargetResult[]): Promise<void> {
    let text = '';
    for (const result of results) {
      const outcome = outcomeOf(result);
      this.tally[outcome]++;
      this.code = worseOf(this.code, codeOf[outcome]);
      // Clears the progress line before an error, or a decision on the same terminal, is written.
      if ('error' in result || this.session.stdout.isTTY === true) this.progress?.clear();
      text += this.rendered(result);
    }
    if (text !== '') await this.output.write(text);
    this.lastLine = results.at(-1)?.target.line ?? this.lastLine;
    this.progress?.show(done(this.tally), () => summary(this.tally));
  }

  /** Writes all that is left, then resolves with the exit code. */
  async finish(): Promise<AnswerExitCode> {
    await this.output.release();
    return this.code;
  }

  /**
   * Reports after Ctrl-C how far the run came and how to continue it. Results are written in order, so every line
   * before that point has its result.
   */
  interrupted(): void {
    const { lastLine } = this;
    if (lastLine === 0) return;
    this.progress?.clear();
    this.session.stderr.write(
      `canfetch: interrupted after line ${lastLine} of the list; ` +
        `\`tail -n +${lastLine + 1}\` prints the rest of it\n`,
    );
  }

  /** Clears the progress line, whether the run succeeded or failed. */
  leave(): void {
    this.progress?.clear();
  }

  /** The text for standard output. Errors for people go to standard error instead. */
  private rendered(result: TargetResult): string {
    if (this.form === 'json') return renderRecord(result);
    if ('error' in result) this.session.stderr.write(renderInputError(result.target, result.error));
    else if (this.form === 'text') return renderDecision(result.decision, this.colours, Date.now());
    return '';
  }
}

const codeOf: Readonly<Record<keyof Tally, AnswerExitCode>> = {
  allowed: exitCode.success,
  disallowed: exitCode.negative,
  unwanted: exitCode.negative,
  undecided: exitCode.undecided,
  invalid: exitCode.usage,
};

function outcomeOf(result: TargetResult): keyof Tally {
  if ('error' in result) return 'invalid';
  if (isUndecided(result.decision)) return 'undecided';
  if (isUnwanted(result.decision)) return 'unwanted';
  return result.decision.allowed ? 'allowed' : 'disallowed';
}

function done({ allowed, disallowed, unwanted, undecided, invalid }: Tally): number {
  return allowed + disallowed + unwanted + undecided + invalid;
}

function summary(tally: Tally): string[] {
  return [
    count(done(tally), 'URL'),
    `${tally.disallowed.toLocaleString('en')} disallowed`,
    ...(tally.unwanted === 0 ? [] : [`${tally.unwanted.toLocaleString('en')} not wanted`]),
    `${tally.undecided.toLocaleString('en')} undecided`,
    ...(tally.invalid === 0 ? [] : [`${tally.invalid.toLocaleString('en')} invalid`]),
  ];
}
