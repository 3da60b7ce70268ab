import { describe, expect, it } from 'vitest';
import { observeWebStream } from '../../../src/guards/fetch/page-body.ts';

/** The body of a response in two parts, and what is seen of its reading. */
function observed(error?: Error): { readonly response: Response; readonly seen: string[] } {
  const parts = ['a ', 'page'];
  const response = new Response(
    new ReadableStream(
      {
        pull(controller) {
          const part = parts.shift();
          if (part !== undefined) controller.enqueue(Buffer.from(part));
          else if (error === undefined) controller.close();
          else controller.error(error);
        },
      },
      { highWaterMark: 0 },
    ),
  );
  const seen: string[] = [];
  observeWebStream(response.body!, {
    onBodyRead: () => void seen.push('read'),
    finish: () => void seen.push('finish'),
    fail: (reason) => void seen.push(String(reason)),
  });
  return { response, seen };
}

async function textOf(body: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const part of body) text += String(Buffer.from(part as Uint8Array));
  return text;
}

const through = (): TransformStream => new TransformStream();

const ways: Readonly<Record<string, (response: Response) => Promise<string>>> = {
  'text()': (response) => response.text(),
  'for await': ({ body }) => textOf(body!),
  'values()': ({ body }) => textOf(body!.values()),
  'pipeThrough()': ({ body }) => textOf(body!.pipeThrough(through())),
  'pipeTo()': async ({ body }) => {
    const { readable, writable } = through();
    const [text] = await Promise.all([textOf(readable), body!.pipeTo(writable)]);
    return text;
  },
  'clone()': async (response) => {
    const [text] = await Promise.all([response.clone().text(), response.text()]);
    return text;
  },
};

describe.each(Object.entries(ways))('a body that is read by %s', (_, read) => {
  it('is seen to be read, and to end', async () => {
    const { response, seen } = observed();
    expect(await read(response)).toBe('a page');
    expect(seen.slice(0, 2)).toEqual(['read', 'read']);
    expect(seen).toContain('finish');
  });

  it('is seen to break off', async () => {
    const { response, seen } = observed(new Error('cut'));
    await expect(read(response)).rejects.toThrow('cut');
    expect(seen).toContain('Error: cut');
  });
});

it.each<[string, (body: ReadableStream<unknown>) => Promise<unknown>]>([
  ['the stream', (body) => body.cancel()],
  ['a reader', (body) => body.getReader().cancel()],
  [
    'an iterator',
    async (body) => {
      for await (const _ of body) break;
    },
  ],
  ['what it is piped through', (body) => body.pipeThrough(through()).cancel()],
])('a body is over that is given up by %s', async (_, giveUp) => {
  const { response, seen } = observed();
  await giveUp(response.body!);
  await expect.poll(() => seen).toContain('finish');
});

it('an iterator that gives nothing up leaves the rest to be read', async () => {
  const { response, seen } = observed();
  for await (const _ of response.body!.values({ preventCancel: true })) break;
  expect(seen).toEqual(['read']);
  expect(await textOf(response.body!)).toBe('page');
});
