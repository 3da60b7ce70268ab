import type { Socket } from 'node:net';
import type { Connector } from '../net/index.ts';

const EXPECTED = Buffer.from('HTTP/1.');
/** An byte that no status line has, so that the parser refuses the response. */
const NUL = 0;

/**
 * Lets no response pass whose status line is not that of HTTP/1. The parser of undici takes `HTTP/0.9 404`, `HTTP/2.0 404`
 * and `RTSP/1.0 404` for a 404, and a 404 allows everything.
 *
 * RFC 9112 §2.3: "HTTP-version = HTTP-name "/" DIGIT "." DIGIT", of which this is the version 1.
 */
export function checkingStatusLines(connect: Connector): Connector {
  return (target, callback) =>
    connect(target, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      checkStatusLines(socket);
      callback(null, socket);
    });
}

/**
 * Sees each chunk before undici does: a stream that is read on `readable` emits `data` for what `read()` is about to
 * return. The first chunk after a request was written begins a response.
 */
function checkStatusLines(socket: Socket): void {
  let written = -1;
  let matched = 0;
  socket.on('data', (chunk: Buffer) => {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      matched = 0;
    }
    for (let at = 0; matched < EXPECTED.length && at < chunk.length; at++) {
      const byte = chunk[at];
      // The parser skips line ends before a status line.
      if (matched === 0 && (byte === 0x0d || byte === 0x0a)) continue;
      if (byte !== EXPECTED[matched++]) {
        chunk[at] = NUL;
        return;
      }
    }
  });
}
