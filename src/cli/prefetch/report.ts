import { isRobotsError } from '../../base/index.ts';
import type { RobotsAccount } from '../../client/index.ts';
import type { Decision } from '../../decision/index.ts';
import { listShare, type Target } from '../../report/input/index.ts';
import { type InputError, isUndecided, type Session, tooLongError } from '../../report/index.ts';
import {
  cause,
  count,
  jsonLine,
  Output,
  type Palette,
  paletteFor,
  printable,
  type Progress,
  progressOn,
} from '../../report/text/index.ts';
import { originOf } from '../../url/index.ts';
import { renderInputError } from '../check/render.ts';
import type { Format } from '../frame/choices.ts';
import type { ParsedArguments } from '../frame/command.ts';
import { type AnswerExitCode, exitCode, worseOf } from '../frame/exit-code.ts';
import { colourChoice } from '../frame/settings.ts';

/** An origin to fetch from, or the error of a line that names no origin. */
export type OriginTarget =
  { readonly origin: string } | { readonly target: Target; readonly error: InputError };

/** Reads the origin that a line names. */
export function originTarget(target: Target): OriginTarget {
  if (target.tooLong === true) return { target, error: tooLongError };
  try {
    return { origin: originOf(target.input) };
  } catch (error) {
    if (!isRobotsError(error)) throw error;
    return { target, error: { code: error.code, message: error.message } };
  }
}

/** The result for one origin, or the error of a line that names no origin. */
export type Prefetched = Decision | Extract<OriginTarget, { readonly error: unknown }>;

/** Writes a line for each origin, and counts the results. */
export class PrefetchReport {
  private readonly session: Session;
  private readonly output: Output;
  private readonly form: Format | 'quiet';
  private readonly colours: Palette;
  private readonly keeps: boolean;
  private readonly progress: Progress | undefined;
  private readonly tally = { urls: 0, origins: 0, rules: 0, open: 0, closed: 0, unreachable: 0, invalid: 0 };
  private code: AnswerExitCode = exitCode.success;

  /** @param list The stream that the list is read from; progress is measured on it. */
  constructor(form: Format | 'quiet', given: ParsedArguments, session: Session, list: object) {
    this.session = session;
    this.keeps = given.values.has('store');
    this.output = new Output(session.stdout);
    this.form = form;
    this.colours = paletteFor(session, colourChoice(given));
    this.progress = this.form === 'quiet' ? undefined : progressOn(session.stderr, listShare(list));
  }

  /** Counts a line of the list. */
  read(): void {
    this.tally.urls++;
    this.showProgress();
  }

  /** Writes results. Resolves when the output has room for more. */
  async add(all: readonly Prefetched[]): Promise<void> {
    for (const prefetched of all) this.count(prefetched);
    if (this.form !== 'quiet') {
      if (this.session.stdout.isTTY === true) this.progress?.clear();
      await this.output.write(all.map((each) => this.rendered(each)).join(''));
    }
    this.showProgress();
  }

  /** Writes all that is left; on a terminal also the account of the front pages. Resolves with the exit code. */
  async finish(account: RobotsAccount): Promise<AnswerExitCode> {
    await this.output.release();
    if (this.progress !== undefined && this.session.stderr.isTTY === true) {
      this.progress.clear();
      this.session.stderr.write(`${this.summary().join(' · ')}\nfront pages: ${String(account)}`);
    }
    return this.code;
  }

  /** Reports after Ctrl-C how far the run came and how to continue it. */
  interrupted(): void {
    const { origins } = this.tally;
    if (origins === 0) return;
    this.progress?.clear();
    const todo = this.keeps
      ? 'run it again with the same --store to fetch the rest'
      : 'with --store STORE a run can be continued';
    this.session.stderr.write(`canfetch: interrupted after ${count(origins, 'origin')}; ${todo}\n`);
  }

  /** Clears the progress line, whether the run succeeded or failed. */
  leave(): void {
    this.progress?.clear();
  }

  /** The line for standard output. Errors for people go to standard error instead. */
  private rendered(prefetched: Prefetched): string {
    if (this.form === 'json') return jsonLine(prefetchRecord(prefetched));
    if (!('error' in prefetched)) return renderPrefetched(prefetched, this.colours);
    this.session.stderr.write(renderInputError(prefetched.target, prefetched.error));
    return '';
  }

  private count(prefetched: Prefetched): void {
    if ('error' in prefetched) {
      this.tally.invalid++;
      this.code = worseOf(this.code, exitCode.usage);
    } else {
      this.tally.origins++;
      this.tally[kindOf(prefetched)]++;
      if (isUndecided(prefetched)) this.code = worseOf(this.code, exitCode.undecided);
    }
  }

  private showProgress(): void {
    this.progress?.show(this.tally.origins, () => this.summary());
  }

  private summary(): string[] {
    const { urls, origins, rules, open, closed, unreachable, invalid } = this.tally;
    const some = (many: number, what: string): string[] =>
      many === 0 ? [] : [`${many.toLocaleString('en')} ${what}`];
    return [
      `${count(origins, 'origin')} of ${count(urls, 'URL')}`,
      ...some(rules, 'with rules'),
      ...some(open, 'open'),
      ...some(closed, 'closed'),
      ...some(unreachable, 'unreachable'),
      ...some(invalid, 'invalid'),
    ];
  }
}

function kindOf(decision: Decision): 'rules' | 'open' | 'closed' | 'unreachable' {
  if (isUndecided(decision)) return 'unreachable';
  if (decision.state === 'rules' || decision.state === 'last-good') return 'rules';
  return decision.state === 'allow-all' ? 'open' : 'closed';
}

const LABELS = { rules: 'RULES', open: 'OPEN', closed: 'CLOSED', unreachable: 'UNREACHABLE' } as const;
const STYLES = { rules: 'good', open: 'good', closed: 'bad', unreachable: 'unsure' } as const;

/** Renders the result for one origin for people: what holds there, and the status or the error of its robots.txt. */
function renderPrefetched(decision: Decision, colours: Palette): string {
  const kind = kindOf(decision);
  const label = colours[STYLES[kind]](LABELS[kind].padEnd(11));
  return `${label}  ${printable(decision.origin)}  ${cause(decision.robots)}\n`;
}

function prefetchRecord(prefetched: Prefetched): object {
  if ('error' in prefetched) {
    const { input, line } = prefetched.target;
    return { input, ...(line === undefined ? {} : { line }), error: prefetched.error };
  }
  const { origin, state, reason, robots, retryAt } = prefetched;
  const { finalUrl, hops, status, error, fetchedAt, staleAt, source } = robots;
  return {
    origin,
    state,
    reason: state === 'rules' || state === 'last-good' ? undefined : reason,
    status,
    error,
    fetchedAt,
    staleAt,
    source,
    ...(hops === 0 ? {} : { hops, finalUrl }),
    ...(retryAt === undefined ? {} : { retryAt }),
  };
}
