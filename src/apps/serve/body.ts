import type { IncomingMessage } from 'node:http';
import { invalid, Problem, type ProblemCode } from './reply.ts';

/** Deadline for a body of bounded length to arrive. */
const BODY_DEADLINE_MS = 30_000;

/**
 * Refuses a content coding (RFC 9110 §15.5.16), because the size limit counts the bytes as received, not as decoded.
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
  const body = await readBody(request, maxBytes);
  try {
    return JSON.parse(body.toString());
  } catch (cause) {
    throw invalid('Expected a JSON body, got something else', { cause });
  }
}

/**
 * Reads with events: leaving an async iteration early would destroy the connection, which the response still needs.
 *
 * @throws Problem 415 for a content coding, 413 for more than `maxBytes`, 408 when the body does not arrive in time.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  assertPlain(request);
  let timer: NodeJS.Timeout | undefined;
  const body = new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const fail = (status: number, code: ProblemCode, detail: string): void => {
      request.pause();
      request.removeAllListeners('data');
      reject(new Problem(status, code, detail, { headers: { connection: 'close' } }));
    };
    const tooLarge = (): void =>
      fail(413, 'ERR_ROBOTS_TOO_LARGE', `Expected a body of at most ${maxBytes} bytes, got more`);
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return tooLarge();
    timer = setTimeout(
      () => fail(408, 'ERR_ROBOTS_REQUEST_TIMEOUT', `Expected the body within ${BODY_DEADLINE_MS} ms`),
      BODY_DEADLINE_MS,
    );
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) tooLarge();
      else chunks.push(chunk);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
  });
  return body.finally(() => clearTimeout(timer));
}
