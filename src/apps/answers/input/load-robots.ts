import { locate, type LocatedUrl } from '../../../core/url/index.ts';
import { DEFAULT_MAX_BODY_BYTES, isRobotsError, printable, quoted } from '../../../core/base/index.ts';
import { type Session, UsageError } from '../session.ts';
import type { OriginPolicy } from '../../../core/decision/index.ts';
import type { Dialect, RobotsFile } from '../../../core/rules/index.ts';
import { parseRobots } from '../../../core/rules/file.ts';
import { whySentence } from '../text/sentences.ts';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';

/** Whether an operand is a URL rather than a file name. */
export function isUrl(operand: string): boolean {
  return /^(?:https?|ftp):\/\//i.test(operand);
}

/** @throws UsageError when the operand is not a valid URL. */
export function readUrl(operand: string): LocatedUrl {
  try {
    return locate(operand);
  } catch (error) {
    if (!isRobotsError(error)) throw error;
    throw new UsageError(`${error.message}${didYouMean(operand)}`, { cause: error });
  }
}

/** @throws UsageError when the operand is not a valid URL. */
export function readOrigin(operand: string): string {
  return readUrl(operand).origin;
}

/** What looks like a host name without a scheme, alone or with what follows it in a URL. */
export const BARE_HOST: RegExp = /^[\w-]+(?:\.[\w-]+)+(?:[:/?#]|$)/;

/** The hint for such an operand. */
export function didYouMean(operand: string): string {
  return BARE_HOST.test(operand) ? `; did you mean "https://${printable(operand)}"?` : '';
}

const STDIN = '-';

/** The result of loading a robots.txt from a disk, from standard input or from an origin. */
export type LoadedRobots =
  | {
      readonly kind: 'file';
      /** File name or URL as given. */
      readonly name: string;
      readonly body: Uint8Array;
      /** Whether the file was longer than the size limit. */
      readonly truncated: boolean;
      /** The URL that the file was fetched from; absent for files on disk. */
      readonly url?: string;
    }
  /** The origin has no robots.txt, or the fetch failed. */
  | { readonly kind: 'none'; readonly name: string; readonly policy: OriginPolicy };

/** What a client knows of the robots.txt at `name`, a URL. */
export function loadedFrom(name: string, policy: OriginPolicy): LoadedRobots {
  const { state, file } = policy;
  if (file === undefined || (state !== 'rules' && state !== 'last-good')) {
    return { kind: 'none', name, policy };
  }
  return { kind: 'file', name, body: file.body, truncated: file.truncated, url: file.finalUrl };
}

/** @throws UsageError when standard input is among the operands twice. */
export function assertStdinOnce(operands: readonly string[]): void {
  if (operands.filter((operand) => operand === STDIN).length <= 1) return;
  throw new UsageError('Expected "-" once, got it again; standard input can be read only once');
}

/** The reason why there is no file; `undefined` when there is one. */
export function absenceOf(loaded: LoadedRobots): string | undefined {
  if (loaded.kind === 'file') return undefined;
  return `${printable(loaded.name)}: ${whySentence(loaded.policy) ?? 'there is no robots.txt'}`;
}

/** The rules that hold for an origin or a file. */
export interface RulesInForce {
  readonly file: RobotsFile;
  /** Set when there is no file, and the response decides everything: a sentence that says why. */
  readonly because?: string;
}

const DISALLOW_ALL = 'User-agent: *\nDisallow: /\n';

/**
 * The rules that a loaded robots.txt puts in force. An empty file stands for a missing robots.txt, and `Disallow: /`
 * for a restricted one. Returns `undefined` for an outage, because the rules are then unknown.
 */
export function rulesInForce(loaded: LoadedRobots, dialect: Dialect): RulesInForce | undefined {
  const read = (body: Uint8Array | string): RobotsFile => parseRobots(body, { dialect });
  if (loaded.kind === 'file') return { file: read(loaded.body) };
  const { state, reason } = loaded.policy;
  const because = absenceOf(loaded) ?? '';
  if (state === 'allow-all') return { file: read(''), because };
  return reason === 'restricted' ? { file: read(DISALLOW_ALL), because } : undefined;
}

export interface ReadRobots {
  readonly body: Uint8Array;
  /** Whether there was more than `maxBytes`. */
  readonly truncated: boolean;
}

/** By the code of the error: why a file cannot be read, and what to do. */
const UNREADABLE: ReadonlyMap<string, readonly [why: string, hint: string]> = new Map([
  ['ENOENT', ['no such file', 'check the path']],
  ['EISDIR', ['a directory', 'give a file']],
  ['EACCES', ['permission denied', 'give a file that can be read']],
  // Often UTF-16 without a mark, as some editors save it.
  ['ERR_ROBOTS_NOT_TEXT', ['ERR_ROBOTS_NOT_TEXT', 'save it as text in UTF-8']],
]);

/** The error for a file that cannot be read; `error` itself if it is another one. */
function unreadable(expected: string, file: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  const [why, hint] = UNREADABLE.get(code) ?? [code, 'give a file that can be read'];
  return new UsageError(`Expected ${expected}, got ${quoted(file)} (${why}); ${hint}`, { cause: error });
}

/**
 * Reads a robots.txt from a disk, or from standard input when `file` is `-`, with the code and the limit that apply
 * to fetched files.
 *
 * @param what The option or operand that named the file, for the error message.
 * @throws UsageError when it cannot be read.
 */
export async function readRobots(
  file: string,
  stdin: Readable,
  what: string,
  maxBytes: number = DEFAULT_MAX_BODY_BYTES,
): Promise<ReadRobots> {
  const { readBody } = await import('../../../core/fetch/body.ts');
  try {
    const body = file === '-' ? stdin : (await open(file)).createReadStream();
    const headers = { get: () => undefined };
    return await readBody({ status: 200, headers, body, discard: () => {} }, maxBytes);
  } catch (error) {
    throw unreadable(`${what} to name a robots.txt file`, file, error);
  }
}

/**
 * Opens a list with one item per line. `-` is standard input.
 *
 * @param what The expected kind of file, for the error message.
 * @throws UsageError when the file cannot be opened.
 */
export async function openList(
  list: string,
  what: string,
  { stdin }: Session,
  signal: AbortSignal,
): Promise<Readable> {
  if (list === '-') return stdin;
  try {
    const file = await open(list);
    if ((await file.stat()).isDirectory()) {
      await file.close();
      throw Object.assign(new Error('A directory'), { code: 'EISDIR' });
    }
    return file.createReadStream({ signal });
  } catch (error) {
    throw unreadable(what, list, error);
  }
}
