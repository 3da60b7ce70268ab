import { createServer, type TLSSocket } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Identity } from './certificates.ts';

/** What a server sends in answer to a request: bytes, a pause in milliseconds, or the end of the connection. */
export type Http2Play = readonly (Uint8Array | number | 'end' | 'reset')[];

const CONNECTION_PREFACE = 24;
const FRAME_HEADER = 9;
const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, goAway: 7, continuation: 9 } as const;
/** RFC 9113 §4.2: what every peer accepts. */
const FRAME_PAYLOAD = 16_384;
const END_STREAM = 1;
const END_HEADERS = 4;

export const NO_ERROR = 0;
export const INTERNAL_ERROR = 2;
export const CANCEL = 8;

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(FRAME_HEADER);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** A HEADERS frame, and CONTINUATION frames with the rest. */
function headerFrames(flags: number, block: Buffer): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at === 0 || at < block.length; at += FRAME_PAYLOAD) {
    const isLast = at + FRAME_PAYLOAD >= block.length;
    const type = at === 0 ? TYPE.headers : TYPE.continuation;
    const payload = block.subarray(at, at + FRAME_PAYLOAD);
    frames.push(frame(type, (at === 0 ? flags : 0) | (isLast ? END_HEADERS : 0), 1, payload));
  }
  return Buffer.concat(frames);
}

/** HPACK: a literal, its name too, without indexing (RFC 7541 §6.2.2), or with (§6.2.1). */
function literal(name: string, value: string, representation = 0): Buffer {
  const text = (bytes: string): Buffer => {
    const length = bytes.length < 127 ? [bytes.length] : [127, ...continued(bytes.length - 127)];
    return Buffer.concat([Buffer.from(length), Buffer.from(bytes, 'latin1')]);
  };
  return Buffer.concat([Buffer.of(representation), text(name), text(value)]);
}

function continued(rest: number): number[] {
  return rest < 128 ? [rest] : [(rest % 128) + 128, ...continued(Math.floor(rest / 128))];
}

/** Frames of the first stream of a connection. */
export const h2 = {
  /** Any frame, of any stream, well formed or not. */
  frame,
  headers: (
    status: number,
    fields: Readonly<Record<string, string | readonly string[]>> = {},
    isEnd = false,
  ): Buffer => {
    const block = Object.entries(fields).flatMap(([name, value]) =>
      [value].flat().map((each) => literal(name, each)),
    );
    const flags = isEnd ? END_STREAM : 0;
    return headerFrames(flags, Buffer.concat([literal(':status', String(status)), ...block]));
  },
  /** One field, sent once and then so many times by a reference of one byte to the dynamic table (RFC 7541 §6.1). */
  headersByReference: (status: number, name: string, value: string, times: number): Buffer => {
    const FIRST_DYNAMIC = 62;
    const block = [literal(':status', String(status)), literal(name, value, 0x40)];
    return headerFrames(0, Buffer.concat([...block, Buffer.alloc(times, 0x80 | FIRST_DYNAMIC)]));
  },
  trailers: (fields: Readonly<Record<string, string>>): Buffer => {
    const block = Object.entries(fields).map(([name, value]) => literal(name, value));
    return frame(TYPE.headers, END_HEADERS | END_STREAM, 1, Buffer.concat(block));
  },
  data: (bytes: string | Uint8Array, isEnd = false): Buffer =>
    frame(TYPE.data, isEnd ? END_STREAM : 0, 1, Buffer.from(bytes)),
  reset: (code: number): Buffer => frame(TYPE.reset, 0, 1, number(code)),
  goAway: (lastStream: number, code: number): Buffer =>
    frame(TYPE.goAway, 0, 0, Buffer.concat([number(lastStream), number(code)])),
};

export interface Http2Site extends AsyncDisposable {
  readonly origin: string;
  /** The number of requests. */
  requests(): number;
  /** The number of TCP connections so far, and of those that are open. */
  connections(): number;
  open(): number;
}

/**
 * A server that speaks HTTP/2 only, frame by frame, and can do what no library does. The last play stays. Without
 * `beginsWithSettings` the play has the SETTINGS frame that each connection begins with.
 */
export async function startHttp2Site(
  identity: Identity,
  plays: readonly Http2Play[],
  beginsWithSettings = true,
): Promise<Http2Site> {
  const sockets = new Set<TLSSocket>();
  let [requests, connections, open] = [0, 0, 0];
  const server = createServer({ ...identity, ALPNProtocols: ['h2'] }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    if (beginsWithSettings) socket.write(frame(TYPE.settings, 0, 0));
    let received = Buffer.alloc(0);
    let isAnswering = false;
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (isAnswering || !hasRequest(received)) return;
      isAnswering = true;
      void answer(socket, plays[Math.min(requests++, plays.length - 1)] ?? []);
    });
  });
  server.on('tlsClientError', () => undefined);
  server.on('connection', (socket) => {
    connections++;
    open++;
    socket.once('close', () => open--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    connections: () => connections,
    open: () => open,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function hasRequest(received: Buffer): boolean {
  for (let at = CONNECTION_PREFACE; at + FRAME_HEADER <= received.length;) {
    if (received[at + 3] === TYPE.headers) return true;
    at += FRAME_HEADER + received.readUIntBE(at, 3);
  }
  return false;
}

async function answer(socket: TLSSocket, play: Http2Play): Promise<void> {
  for (const step of play) {
    if (socket.destroyed) return;
    if (typeof step === 'number') await sleep(step);
    else if (step === 'end') socket.end();
    else if (step === 'reset') socket.destroy();
    else if (!socket.write(step)) {
      await new Promise<void>((resolve) => {
        socket.once('drain', resolve);
        socket.once('close', resolve);
      });
    }
  }
}
