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

/** Writes the results of a list in the form that the options select, and counts them. */
export class ListReport<Decided extends ReportedDecision> {
  readonly #session: Session;
  readonly #layout: ListLayout<Decided>;
  readonly #form: Format;
  readonly #colours: Palette;
  readonly #width: number | undefined;
  readonly #labelWidth: number;
  readonly #isSummed: boolean;
  readonly #counts = new Map<Kind, number>();
  #decided = 0;
  #invalid = 0;
  #code: ResultExitCode = exitCode.success;

  constructor(session: Session, layout: ListLayout<Decided>, { form, isSummed }: ListOptions) {
    this.#session = session;
    this.#layout = layout;
    this.#form = form;
    this.#colours = paletteFor(session);
    this.#width = widthOf(session.stdout);
    this.#labelWidth = Math.max(...layout.kinds.map(({ label }) => label.length));
    this.#isSummed = isSummed && session.stderr.isTTY === true;
  }

  get decided(): number {
    return this.#decided;
  }

  /** Whether there was nothing in the list. */
  get isEmpty(): boolean {
    return this.#decided + this.#invalid === 0;
  }

  /**
   * Writes the results of a run as they come. Resolves with the exit code.
   *
   * @param interrupted After Ctrl-C: how far the run came, and how to continue it.
   */
  async run(
    batches: AsyncIterable<readonly TargetResult<Decided>[]>,
    interrupted: (last: Target) => string | 0 | undefined,
  ): Promise<ResultExitCode> {
    const { signal, stderr } = this.#session;
    let last: Target | undefined;
    try {
      for await (const results of batches) {
        last = results.at(-1)?.target ?? last;
        await this.#add(results);
      }
      signal.throwIfAborted();
      if (this.#isSummed) stderr.write(`${this.#summary().join(' · ')}\n`);
      return this.#code;
    } catch (error) {
      const came = signal.aborted && last && interrupted(last);
      if (came) stderr.write(`canfetch: interrupted after ${came}\n`);
      throw error;
    }
  }

  async #add(results: readonly TargetResult<Decided>[]): Promise<void> {
    for (const result of results) this.#count(result);
    const lines = results.map((result) => this.#rendered(result));
    await writeLines(this.#session.stdout, lines);
  }

  #count(result: TargetResult<Decided>): void {
    if ('error' in result) {
      this.#invalid++;
      this.#code = mostSevere(this.#code, exitCode.usage);
      return;
    }
    const kind = this.#layout.kindOf(result.decision);
    this.#decided++;
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    this.#code = mostSevere(this.#code, kind.code);
  }

  /** The text for standard output. With `--format text`, errors go to standard error instead. */
  #rendered(result: TargetResult<Decided>): string {
    if (this.#form === 'json') return this.#layout.record(result);
    if ('error' in result) this.#session.stderr.write(renderInputError(result.target, result.error));
    else return this.#decisionText(result.decision);
    return '';
  }

  #decisionText(decision: Decided): string {
    const { kindOf, subjectOf, reasonOf, long } = this.#layout;
    if (long !== undefined) return long(decision, this.#colours, this.#width);
    const { label, tone } = kindOf(decision);
    const mark = this.#colours[tone](label.padEnd(this.#labelWidth));
    return `${[mark, printable(subjectOf(decision)), reasonOf(decision)].join('  ').trimEnd()}\n`;
  }

  #summary(): string[] {
    const some = (many: number, words: string | undefined): string[] =>
      many === 0 || words === undefined ? [] : [`${many.toLocaleString('en')} ${words}`];
    return [
      this.#layout.total(this.#decided, this.#invalid),
      ...this.#layout.kinds.flatMap((kind) => some(this.#counts.get(kind) ?? 0, kind.counted)),
      ...some(this.#invalid, 'invalid'),
    ];
  }
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
