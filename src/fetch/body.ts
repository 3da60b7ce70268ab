import { Readable } from 'node:stream';
import { CONTENT_CODING, FETCH_FAILED } from './codes.ts';
import { contentCodings, decode } from './content-coding.ts';
import { FetchFailure } from './failure.ts';
import { GrowingOctets, type ReadBody } from './growing-octets.ts';
import type { TransportResponse } from './transport.ts';

/**
 * Reads the decoded body up to `maxBodyBytes`. After a truncated answer, or a failure, the rest of the body may
 * still be on its way: abort the request.
 *
 * RFC 9309 §2.5: "Crawlers SHOULD impose a parsing limit to protect their systems; see Section 3. The parsing
 * limit MUST be at least 500 kibibytes [KiB]."
 */
export async function readBody(response: TransportResponse, maxBodyBytes: number): Promise<ReadBody> {
  const octets = new GrowingOctets(maxBodyBytes);
  await fill(octets, response, maxBodyBytes);
  return octets.result();
}

/**
 * Reads decoded octets until there are more than `enough`, the body ends or breaks, and returns what came. After less
 * than the whole body the rest may still be on its way: abort the request.
 */
export async function readStart(
  response: TransportResponse,
  enough: number,
): Promise<{ readonly start: Uint8Array; readonly whole: boolean }> {
  const octets = new GrowingOctets(enough);
  let ended = true;
  try {
    await fill(octets, response, enough);
  } catch {
    ended = false;
  }
  return { start: octets.octets, whole: ended && octets.octets.byteLength <= enough };
}

async function fill(octets: GrowingOctets, response: TransportResponse, limit: number): Promise<void> {
  const codings = response.alreadyDecoded ? [] : contentCodings(response.headers.get('content-encoding'));
  if (codings === undefined) {
    response.discard();
    throw new FetchFailure(CONTENT_CODING);
  }
  if (codings.length === 0) {
    await fillPlain(octets, response.body);
  } else {
    await fillDecoded(octets, response.body, (source) => decode(source, codings, 2 * limit + 65_536));
  }
}

async function fillPlain(octets: GrowingOctets, body: AsyncIterable<Uint8Array>): Promise<void> {
  if (body instanceof Readable) return fillFromStream(octets, body);
  try {
    for await (const chunk of body) {
      if (octets.add(chunk)) return;
    }
  } catch (error) {
    octets.broken(error);
  }
}

/** What iterating over a stream comes to, without the promises and listeners that it takes. */
function fillFromStream(octets: GrowingOctets, body: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const over = (error?: unknown): void => {
      if (isOver) return;
      isOver = true;
      try {
        if (error !== undefined) octets.broken(error);
        resolve();
      } catch (reason) {
        reject(reason);
      }
    };
    body.on('data', (chunk: Uint8Array) => {
      if (isOver || !octets.add(chunk)) return;
      over();
      body.destroy();
    });
    body.once('end', () => over());
    body.on('error', over);
    // A stream can be destroyed without an error, and without an end.
    body.once('close', () => {
      if (!isOver) over(new FetchFailure(FETCH_FAILED));
    });
  });
}

async function fillDecoded(
  octets: GrowingOctets,
  body: AsyncIterable<Uint8Array>,
  decoded: (source: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>,
): Promise<void> {
  const network: Break = {};
  try {
    for await (const chunk of decoded(untilBroken(body, network))) {
      if (octets.add(chunk)) return;
    }
  } catch (error) {
    if (network.failure === undefined) octets.broken(new FetchFailure(CONTENT_CODING, { cause: error }));
  }
  if (network.failure !== undefined) octets.broken(network.failure.error);
}

interface Break {
  failure?: { readonly error: unknown };
}

/** Ends where the body breaks and notes why, so that a decoder still gives out all that came before. */
async function* untilBroken(body: AsyncIterable<Uint8Array>, network: Break): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    network.failure = { error };
  }
}
