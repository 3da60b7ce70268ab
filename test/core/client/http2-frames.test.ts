import { afterAll, expect, it } from 'vitest';
import fc from '../../support/fast-check.ts';
import { h2 } from '../../support/http2-site.ts';
import { runs } from '../../support/thorough.ts';
import { Wire } from './wire.ts';

const RULES = 'User-agent: *\nDisallow: /x\n';
const END_STREAM = 1;
const TYPES = {
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
  unknown: 0x7f,
} as const;

interface Frame {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly stream?: number;
  readonly endsStream?: boolean;
}

/** Frames as they should be. */
const settings: Frame = { name: 'settings', bytes: h2.frame(TYPES.settings, 0, 0) };
const GOOD: readonly Frame[] = [
  { name: '103', bytes: h2.headers(103), stream: 1 },
  { name: '200', bytes: h2.headers(200), stream: 1 },
  { name: 'data', bytes: h2.data(RULES), stream: 1 },
  { name: 'last data', bytes: h2.data(RULES, true), stream: 1, endsStream: true },
  { name: 'trailers', bytes: h2.trailers({ 'x-sum': '1' }), stream: 1, endsStream: true },
  { name: 'reset', bytes: h2.reset(8), stream: 1 },
  { name: 'go away', bytes: h2.goAway(1, 0) },
];
const whole = [settings, ...GOOD.filter(({ name }) => name === '200' || name === 'last data')];

/** Frames with a wrong size, stream, flag or content. */
const wrongFrame: fc.Arbitrary<Frame> = fc
  .record({
    type: fc.constantFrom(...Object.entries(TYPES)),
    flags: fc.constantFrom(0, END_STREAM, 4, 8, 32, 255),
    stream: fc.constantFrom(0, 1, 2, 3, 0x7fff_ffff),
    payload: fc.uint8Array({ maxLength: 20 }),
  })
  .map(({ type: [name, type], flags, stream, payload }) => ({
    name: `${name} of ${payload.length} bytes, flags ${flags}, stream ${stream}`,
    bytes: h2.frame(type, flags, stream, payload),
    stream,
    endsStream: type === TYPES.headers && (flags & END_STREAM) !== 0,
  }));

const frames = fc
  .tuple(fc.boolean(), fc.array(fc.oneof(fc.constantFrom(...GOOD), wrongFrame), { maxLength: 6 }))
  .map(([beginsWhole, more]) => [...(beginsWhole ? whole : [settings]), ...more])
  // A stream that ends before its data is an empty file, which allows.
  .filter((all) => {
    const end = all.findIndex(({ stream, endsStream }) => stream === 1 && endsStream === true);
    const data = all.findIndex(({ name }) => name.endsWith('data'));
    return end < 0 || (data >= 0 && data <= end);
  });

/** Bytes that are sent in one piece, as long as `cuts` has no other wish. */
function inPieces(all: readonly Uint8Array[], cuts: readonly boolean[]): string[] {
  const pieces: Uint8Array[][] = [];
  all.forEach((bytes, at) => {
    if (at === 0 || cuts[at] === true) pieces.push([]);
    pieces.at(-1)!.push(bytes);
  });
  return pieces.map((piece) => Buffer.concat(piece).toString('base64'));
}

const wire = new Wire();
afterAll(() => wire.close());

it('RFC 9113: whatever frames a server sends, the process lives, and nothing is allowed', async () => {
  await fc.assert(
    fc.asyncProperty(
      frames,
      fc.array(fc.boolean(), { maxLength: 8 }),
      fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined, freq: 5 }),
      async (all, cuts, abortAfterMs) => {
        const pieces = inPieces(
          all.map(({ bytes }) => bytes),
          cuts,
        );
        const result = await wire.ask({
          protocol: 'http2',
          transport: 'undici',
          pieces,
          ...(abortAfterMs === undefined ? {} : { abortAfterMs }),
        });
        expect(result.allowed).toBe(false);
      },
    ),
    { numRuns: runs(200) },
  );
}, 600_000);

it.each(['settings', 'ping', 'goAway', 'reset', 'windowUpdate', 'priority'] as const)(
  'a %s frame of a wrong size after a whole response, in one piece, does not end the process',
  async (type) => {
    for (const size of [3, 5, 7]) {
      const wrong = h2.frame(
        TYPES[type],
        0,
        type === 'priority' || type === 'reset' ? 1 : 0,
        Buffer.alloc(size),
      );
      const pieces = [Buffer.concat([...whole.map(({ bytes }) => bytes), wrong]).toString('base64')];
      const result = await wire.ask({ protocol: 'http2', transport: 'undici', pieces });
      expect(result.allowed).toBe(false);
    }
  },
);
