import { builtin } from '../../core/base/index.ts';
import type { NodeHeaders } from './answer.ts';
import type { Hop } from './hop.ts';

/** What Node publishes when the header of an answer has come. */
interface HeaderMessage {
  readonly request: {
    readonly protocol: string;
    readonly path: string;
    getHeader(name: string): unknown;
  };
  readonly response: { readonly statusCode: number; readonly headers: NodeHeaders };
}

/** Beyond it the oldest URL is forgotten: some requests are never sent, as those that an interceptor refuses. */
const MAX_EXPECTED = 10_000;
/** Beyond it the oldest request for a URL is forgotten. */
const MAX_EXPECTED_OF_URL = 100;

const HEADER_CHANNEL = 'http.client.response.finish';

/**
 * Sees the header of an answer before its body is read, for libraries over `node:http` whose hooks see answers that were
 * read whole: a body without end must not hold a place. Node publishes headers of all requests, and of each only its
 * URL. Of two requests for one URL the newer one counts as answered first: nobody may ever tell the end of the older one,
 * as of a stream that was destroyed.
 */
export class NodeAnswers {
  readonly #expected = new Map<string, Hop[]>();

  /** A request with a slot has left. Until {@link forget} the header of its answer is told to the slot. */
  expect(hop: Hop): void {
    if (hop.slot === undefined) return;
    if (this.#expected.size === 0) builtin('node:diagnostics_channel')?.subscribe(HEADER_CHANNEL, this.#see);
    const url = keyOf(hop);
    this.#expected.set(url, [...(this.#expected.get(url) ?? []), hop].slice(-MAX_EXPECTED_OF_URL));
    if (this.#expected.size <= MAX_EXPECTED) return;
    for (const oldest of this.#expected.keys()) {
      this.#expected.delete(oldest);
      return;
    }
  }

  forget(hop: Hop): void {
    if (this.#expected.size === 0 || hop.slot === undefined) return;
    const url = keyOf(hop);
    const others = this.#expected.get(url)?.filter((each) => each !== hop) ?? [];
    if (others.length > 0) this.#expected.set(url, others);
    else if (this.#expected.delete(url) && this.#expected.size === 0) {
      builtin('node:diagnostics_channel')?.unsubscribe(HEADER_CHANNEL, this.#see);
    }
  }

  readonly #see = (message: unknown): void => {
    const { request, response } = message as HeaderMessage;
    const { protocol, path } = request;
    // A proxy is sent the whole URL.
    const url = path.startsWith('/') ? `${protocol}//${String(request.getHeader('host'))}${path}` : path;
    const hop = this.#expected.get(url)?.at(-1);
    if (hop === undefined) return;
    this.forget(hop);
    hop.slot?.answered({ status: response.statusCode, headers: response.headers });
  };
}

function keyOf({ url }: Hop): string {
  const { protocol, host, pathname, search } = new URL(url);
  return `${protocol}//${host}${pathname}${search}`;
}
