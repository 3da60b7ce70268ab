import type { IncomingMessage } from 'node:http';
import { Problem } from './problem.ts';

/** Deadline for a body of bounded length to arrive. */
const BODY_DEADLINE_MS = 30_000;

/**
 * Refuses a content coding (RFC 9110 §15.5.16), because the size limit counts the octets as received, not as decoded.
 *
 * @throws Problem 415
 */
export function assertPlain({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding === 'identity') return;
  throw new Problem(
    415,
    'ERR_ROBOTS_INVALID_REQUEST',
    'Expected a body without Content-Encoding; send it uncompressed',
  );
}

/** @throws Problem 413 for more than `maxBytes`, 408 when the body does not arrive in time, 400 for invalid JSON. */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  assertPlain(request);
  const text = await readText(request, maxBytes);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Problem(400, 'ERR_ROBOTS_INVALID_REQUEST', 'Expected a JSON body, got something else', {
      cause,
    });
  }
}

/** Reads with events: leaving an async iteration early would destroy the connection, which the response still needs. */
function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const fail = (
      status: number,
      code: 'ERR_ROBOTS_TOO_LARGE' | 'ERR_ROBOTS_REQUEST_TIMEOUT',
      detail: string,
    ): void => {
      clearTimeout(timer);
      request.pause();
      request.removeAllListeners('data');
      reject(new Problem(status, code, detail, { headers: { connection: 'close' } }));
    };
    const tooLarge = (): void =>
      fail(413, 'ERR_ROBOTS_TOO_LARGE', `Expected a body of at most ${maxBytes} octets, got more`);
    const timer = setTimeout(
      () => fail(408, 'ERR_ROBOTS_REQUEST_TIMEOUT', `Expected the body within ${BODY_DEADLINE_MS} ms`),
      BODY_DEADLINE_MS,
    );
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return tooLarge();
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) tooLarge();
      else chunks.push(chunk);
    });
    request.once('end', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks).toString());
    });
    request.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}
