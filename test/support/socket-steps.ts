import type { Socket } from 'node:net';

/** One thing a server does on a socket. */
export type Step =
  /** Sent as it is. */
  | string
  | Uint8Array
  /** Sent again and again as long as the socket takes it. */
  | { readonly endless: string | Uint8Array }
  /** Sent byte by byte, with a pause before each. */
  | { readonly slowly: string; readonly everyMs: number }
  | 'end'
  | 'reset';

/** What a server does on one request. Without `end` or `reset` the connection stays open, and silent. */
export type Steps = readonly Step[];

/** Runs the steps in order, each after the one before was sent. Stops when the socket is destroyed. */
export async function runSteps(socket: Socket, steps: Steps): Promise<void> {
  for (const step of steps) {
    if (socket.destroyed) return;
    if (step === 'end') socket.end();
    else if (step === 'reset') await reset(socket);
    else if (typeof step === 'string' || step instanceof Uint8Array) await write(socket, step);
    else if ('endless' in step) while (!socket.destroyed) await write(socket, step.endless);
    else await drip(socket, step.slowly, step.everyMs);
  }
}

/** Resolves when everything written has been sent. */
function reset(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => {
      socket.resetAndDestroy();
      resolve();
    });
  });
}

/** A write whose socket goes away is called back too. */
function write(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    socket.write(bytes, () => resolve());
  });
}

async function drip(socket: Socket, text: string, everyMs: number): Promise<void> {
  for (const byte of Buffer.from(text, 'latin1')) {
    await new Promise((resolve) => setTimeout(resolve, everyMs).unref());
    if (socket.destroyed) return;
    socket.write(Buffer.of(byte));
  }
}
