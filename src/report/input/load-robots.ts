import { DEFAULT_MAX_BODY_BYTES } from '../../base/index.ts';
import type { OriginPolicy } from '../../decision/index.ts';
import { printable } from '../text/printable.ts';
import { isUrl, readOrigin } from './read-origin.ts';
import { readRobots } from './read-robots.ts';
import type { Session } from '../session.ts';
import { UsageError } from '../usage-error.ts';
import { whySentence } from '../text/sentences.ts';

const STDIN = '-';

/** What came of looking for a robots.txt, on a disk, on standard input or at an origin. */
export type LoadedRobots =
  | {
      readonly kind: 'file';
      /** As it was given. */
      readonly name: string;
      readonly body: Uint8Array;
      /** Whether there was more than was read. */
      readonly truncated: boolean;
      /** The URL it came from; absent for files. */
      readonly url?: string;
    }
  /** The origin said that it has none, or failed. */
  | { readonly kind: 'none'; readonly name: string; readonly policy: OriginPolicy };

/** Of a client, what is needed to ask an origin for its file. */
export interface PolicyClient extends AsyncDisposable {
  policy(origin: string, options: { readonly signal: AbortSignal }): Promise<OriginPolicy>;
}

export interface LoadOptions {
  /** Makes the client, which reads that much of a file. Called when the first URL comes, and not before. */
  readonly openClient: (maxBodyBytes: number) => Promise<PolicyClient>;
  readonly session: Session;
  readonly signal: AbortSignal;
  /** How much of a file is read. Default 512,000. */
  readonly maxBytes?: number;
}

/** Reads robots.txt files one after another, from disks, standard input and origins. */
export class RobotsLoader implements AsyncDisposable {
  private readonly options: LoadOptions;
  private opened: Promise<PolicyClient> | undefined;

  constructor(options: LoadOptions) {
    this.options = options;
  }

  /** @throws UsageError when a file cannot be read, or a URL is none. */
  async load(operand: string): Promise<LoadedRobots> {
    if (isUrl(operand)) return this.ask(operand);
    const { session, maxBytes } = this.options;
    const read = await readRobots(operand, session.stdin, 'FILE', maxBytes);
    return { kind: 'file', name: operand, ...read };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.opened)?.[Symbol.asyncDispose]();
  }

  private async ask(url: string): Promise<LoadedRobots> {
    const { openClient, maxBytes = DEFAULT_MAX_BODY_BYTES, signal } = this.options;
    const origin = readOrigin(url);
    this.opened ??= openClient(maxBytes);
    const client = await this.opened;
    const policy = await client.policy(origin, { signal });
    const { state, file } = policy;
    if (file === undefined || (state !== 'rules' && state !== 'last-good')) {
      return { kind: 'none', name: url, policy };
    }
    return { kind: 'file', name: url, body: file.body, truncated: file.truncated, url: file.finalUrl };
  }
}

/**
 * Whether standard input is among the operands.
 *
 * @throws UsageError when it is there twice.
 */
export function readsStdin(operands: readonly string[]): boolean {
  const times = operands.filter((operand) => operand === STDIN).length;
  if (times <= 1) return times === 1;
  throw new UsageError('Expected "-" once, got it again; standard input can be read only once');
}

/** Why there is no file to look at. */
export function absenceOf(loaded: LoadedRobots): string | undefined {
  if (loaded.kind === 'file') return undefined;
  return `${printable(loaded.name)}: ${whySentence(loaded.policy) ?? 'there is no robots.txt'}`;
}
