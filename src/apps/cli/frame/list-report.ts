import { existsSync } from 'node:fs';
import { didYouMean } from '../../answers/input/load-robots.ts';
import type { Target, InputError, TargetResult } from '../../answers/input/targets.ts';
import type { ReportedDecision, Tone } from '../../answers/verdict.ts';
import { type Session, writeLines } from '../../answers/session.ts';
import { type Palette, paletteFor, widthOf } from '../../answers/text/layout.ts';
import { printable, withoutUserinfo } from '../../../core/base/index.ts';
import { type ResultExitCode, exitCode, mostSevere, type Format } from './command.ts';

/** A kind of result, for counting. */
export interface Kind {
  readonly label: string;
  readonly tone: Tone;
  readonly code: ResultExitCode;
  /** How the summary calls it: `12 disallowed`. Absent: not counted separately. */
  readonly counted?: string;
}

/** How the results of a list are shown. */
export interface ListLayout<Decided extends ReportedDecision> {
  /** In the order of the summary. */
  readonly kinds: readonly Kind[];
  kindOf(decision: Decided): Kind;
  /** What the decision is about: a URL, or an origin. */
  subjectOf(decision: Decided): string;
  reasonOf(decision: Decided): string;
  /** The line of NDJSON. */
  record(result: TargetResult<Decided>): string;
  /** The text, where it is not one line for each decision. */
  readonly long?: (decision: Decided, colours: Palette, width: number | undefined) => string;
  /** The beginning of the summary: `3 URLs`. */
  total(decided: number, invalid: number): string;
}

export interface ListOptions {
  readonly form: Format;
  /** Whether a summary on a terminal follows them. */
  readonly isSummed: boolean;
}

/**
 * Writes the results of a list as they come, in the form that the options select, and counts them. Resolves with the exit
 * code; `undefined` when there was nothing in the list.
 */
export async function writeList<Decided extends ReportedDecision>(
  session: Session,
  layout: ListLayout<Decided>,
  { form, isSummed }: ListOptions,
  batches: AsyncIterable<readonly TargetResult<Decided>[]>,
): Promise<ResultExitCode | undefined> {
  const { stdout, stderr, signal } = session;
  const colours = paletteFor(session);
  const width = widthOf(stdout);
  const labelWidth = Math.max(...layout.kinds.map(({ label }) => label.length));
  const counts = new Map<Kind, number>();
  let [decided, invalid] = [0, 0];
  let code: ResultExitCode = exitCode.success;
  const textOf = (decision: Decided, { label, tone }: Kind): string => {
    if (layout.long !== undefined) return layout.long(decision, colours, width);
    const mark = colours[tone](label.padEnd(labelWidth));
    const parts = [mark, printable(layout.subjectOf(decision)), layout.reasonOf(decision)];
    return `${parts.join('  ').trimEnd()}\n`;
  };
  /** Counts a result, and returns its text for standard output. With `--format text`, errors go to standard error instead. */
  const take = (result: TargetResult<Decided>): string => {
    if ('error' in result) {
      invalid++;
      code = mostSevere(code, exitCode.usage);
      if (form === 'json') return layout.record(result);
      stderr.write(renderInputError(result.target, result.error));
      return '';
    }
    const kind = layout.kindOf(result.decision);
    decided++;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    code = mostSevere(code, kind.code);
    return form === 'json' ? layout.record(result) : textOf(result.decision, kind);
  };
  for await (const results of batches) await writeLines(stdout, results.map(take));
  signal.throwIfAborted();
  if (isSummed && stderr.isTTY === true) {
    const some = (many: number, words: string | undefined): string[] =>
      many === 0 || words === undefined ? [] : [`${many.toLocaleString('en')} ${words}`];
    const kinds = layout.kinds.flatMap((kind) => some(counts.get(kind) ?? 0, kind.counted));
    const summary = [layout.total(decided, invalid), ...kinds, ...some(invalid, 'invalid')];
    stderr.write(`${summary.join(' · ')}\n`);
  }
  return decided + invalid === 0 ? undefined : code;
}

/** The hint for a file of URLs that was given as a URL. */
function fileHint({ input, line }: Target): string | undefined {
  if (line !== undefined || !existsSync(input)) return undefined;
  return `; to read URLs from this file, write: canfetch check - < ${printable(input)}`;
}

/** Renders the error of an invalid target as text. */
function renderInputError(target: Target, error: InputError): string {
  const where = target.line === undefined ? '' : `line ${target.line}: `;
  const hint = target.tooLong === true ? '' : (fileHint(target) ?? didYouMean(target.input));
  return `canfetch: ${where}${withoutUserinfo(printable(error.message))}${hint}\n`;
}
