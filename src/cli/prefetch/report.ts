import { isRobotsError } from '../../base/index.ts';
import type { Decision } from '../../decision/index.ts';
import { listShare, type Target } from '../../report/input/index.ts';
import { type InputError, isUndecided, type Session, tooLongError } from '../../report/index.ts';
import { count, jsonLine, Output, type Progress, progressOn } from '../../report/text/index.ts';
import { originOf } from '../../url/index.ts';
import type { ParsedArguments } from '../frame/command.ts';
import { type AnswerExitCode, exitCode, graver } from '../frame/exit-code.ts';

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
  private readonly quiet: boolean;
  private readonly keeps: boolean;
  private readonly progress: Progress | undefined;
  private readonly tally = { urls: 0, origins: 0, rules: 0, open: 0, closed: 0, unreachable: 0, invalid: 0 };
  private code: AnswerExitCode = exitCode.success;

  /** @param list The stream that the list is read from; progress is measured on it. */
  constructor({ switches, values }: ParsedArguments, session: Session, list: object) {
    this.session = session;
    this.keeps = values.has('store');
    this.output = new Output(session.stdout);
    this.quiet = switches.has('quiet');
    this.progress = this.quiet ? undefined : progressOn(session.stderr, listShare(list));
  }

  /** Counts a line of the list. */
  read(): void {
    this.tally.urls++;
    this.showProgress();
  }

  /** Writes results. Resolves when the output has room for more. */
  async add(all: readonly Prefetched[]): Promise<void> {
    for (const prefetched of all) this.count(prefetched);
    if (!this.quiet) {
      if (this.session.stdout.isTTY === true) this.progress?.clear();
      await this.output.write(all.map((each) => jsonLine(prefetchRecord(each))).join(''));
    }
    this.showProgress();
  }

  /** Writes all that is left, then resolves with the exit code. */
  async finish(): Promise<AnswerExitCode> {
    await this.output.release();
    if (this.progress !== undefined && this.session.stderr.isTTY === true) {
      this.progress.clear();
      this.session.stderr.write(`${this.summary().join(' · ')}\n`);
    }
    return this.code;
  }

  /** Reports after Ctrl-C how far the run came and how to continue it. */
  interrupted(): void {
    const { origins } = this.tally;
    if (origins === 0) return;
    this.progress?.clear();
    const todo = this.keeps
      ? 'run it again with the same --store, and it asks the rest'
      : 'with --store FOLDER a run can be continued';
    this.session.stderr.write(`canfetch: interrupted after ${count(origins, 'origin')}; ${todo}\n`);
  }

  /** Clears the progress line, whether the run succeeded or failed. */
  leave(): void {
    this.progress?.clear();
  }

  private count(prefetched: Prefetched): void {
    if ('error' in prefetched) {
      this.tally.invalid++;
      this.code = graver(this.code, exitCode.usage);
    } else {
      this.tally.origins++;
      this.tally[kindOf(prefetched)]++;
      if (isUndecided(prefetched)) this.code = graver(this.code, exitCode.undecided);
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
