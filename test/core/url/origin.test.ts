import { describe, expect, it } from 'vitest';
import {
  LocatedUrl,
  locate,
  MAX_URL_BYTES,
  originOf,
  removeDotSegments,
} from '../../../src/core/url/origin.ts';
import fc from '../../support/fast-check.ts';
import { runs } from '../../support/thorough.ts';

describe('origin of a URL', () => {
  it.each([
    ...'example.com/a /a http:// mailto:a@example.com data:text/plain,x file:///etc/passwd'.split(' '),
    '',
  ])('%j is refused with ERR_ROBOTS_INVALID_URL and the input in the message', (input) => {
    expect(() => originOf(input)).toThrow(
      expect.objectContaining({
        code: 'ERR_ROBOTS_INVALID_URL',
        message: expect.stringContaining(JSON.stringify(input)),
      }),
    );
  });
});

describe('what is no URL', () => {
  it.each([
    ['undefined', undefined],
    ['5', 5],
    ['Symbol(x)', Symbol('x')],
    ['object', Object.create(null)],
    ['object', Object.assign(Object.create(null), { href: 'mailto:a@example.com' })],
  ])('is refused with its text, or its type if it has none: %s', (input, value) => {
    expect(() => Reflect.apply(originOf, undefined, [value])).toThrow(
      expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_URL', input }),
    );
  });
});

describe('a URL of more than 65,536 bytes', () => {
  const base = 'https://example.com/';
  const filled = (length: number, tail = ''): string =>
    base + 'a'.repeat(length - base.length - tail.length) + tail;

  it('is refused, and one of 65,536 is not', () => {
    expect(originOf(filled(MAX_URL_BYTES))).toBe('https://example.com');
    for (const url of [filled(MAX_URL_BYTES + 1), filled(2 ** 24), filled(MAX_URL_BYTES + 1, '#fragment')]) {
      for (const input of [url, new URL(url)]) {
        expect(() => originOf(input)).toThrow(
          expect.objectContaining({
            code: 'ERR_ROBOTS_INVALID_URL',
            message: expect.stringContaining(
              'Expected a URL of at most 65536 bytes, got "https://example.com/aaa',
            ),
          }),
        );
      }
    }
  });

  it('counts as the URL parser serialises it', () => {
    expect(() => originOf(filled(MAX_URL_BYTES, 'ä'))).toThrow('at most 65536 bytes');
    expect(originOf(`https://user:password@${filled(MAX_URL_BYTES - 100).slice('https://'.length)}`)).toBe(
      'https://example.com',
    );
  });

  it('is cut in the error, which lists of URLs keep', () => {
    try {
      originOf(filled(2 ** 20));
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ input: expect.stringMatching(/^https:.{1,2000}…$/) });
    }
  });
});

describe('the reading of serialised URLs without the URL parser', () => {
  const piece = fc.constantFrom(
    ...'a,Z,0,.,..,/,//,?,#,%,%2e,%41,:,@,-,--,_,~,\',", ,\t,\\,^,|,{,`,<,é,💩,\ud800,xn--'.split(','),
    ...':80,:443,:8080,:08,:65536'.split(','),
  );

  it('gives the result of the URL parser, for any spelling', () => {
    const text = fc
      .tuple(
        fc.constantFrom('http://', 'https://', 'ftp://', 'HTTP://', 'http:', 'https:/'),
        fc.constantFrom(
          ...'a example.com example.com/ a.b 1.2.3.4 1.2.3.4/ 255.0.0.256/ 01.2.3.4/ 1.2.3/'.split(' '),
          ...'1.2.3.4.5/ 1.2.3.4:81/ a.1 a.0x1 a. localhost [::1]'.split(' '),
          '',
        ),
        fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
      )
      .map((parts) => parts.join(''));
    // One for all, as the client has it: nothing of the URL before may show.
    const located = new LocatedUrl();
    fc.assert(
      fc.property(text, (url) => {
        let parsed: URL;
        try {
          parsed = new URL(url);
        } catch {
          expect(() => originOf(url)).toThrow();
          return;
        }
        locate(url, located);
        Object.assign(parsed, { username: '', password: '' });
        const href = removeDotSegments(parsed.href);
        expect(located.href).toBe(href);
        expect(located.origin).toBe(parsed.origin);
        const bare = href.split('#')[0]!;
        const expected = bare.slice(bare.indexOf('/', parsed.protocol.length + 2));
        expect(located.href.slice(located.targetStart, located.targetEnd)).toBe(expected);
      }),
      { numRuns: runs(800) },
    );
  });

  it('reads an IPv4 address itself where the parser would not change it', () => {
    const part = fc.oneof(
      fc.nat(300).map(String),
      fc.constantFrom('00', '01', '0x1', '', '1a', '4294967296'),
    );
    const host = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'));
    const located = new LocatedUrl();
    fc.assert(
      fc.property(host, fc.constantFrom('', ':81', ':80'), (address, port) => {
        const url = `http://${address}${port}/a`;
        if (!URL.canParse(url)) return void expect(() => originOf(url)).toThrow();
        locate(url, located);
        expect([located.href, located.origin]).toEqual([new URL(url).href, new URL(url).origin]);
        // Bytes are known of URLs that the parser did not read. A host that ends in a dot may be a name.
        if (/^[\d.]*\d$/.test(address)) expect(located.bytes !== undefined).toBe(url === new URL(url).href);
      }),
      { numRuns: runs(400) },
    );
  });

  it('the bytes are those of the URL read last', () => {
    const [one, two] = [new LocatedUrl(), new LocatedUrl()];
    one.read('https://a.example/one');
    expect(one.bytes?.subarray(one.targetStart, one.targetEnd)).toEqual(new TextEncoder().encode('/one'));
    two.read('https://a.example/two');
    expect(one.bytes).toBeUndefined();
    expect(two.bytes?.subarray(two.targetStart, two.targetEnd)).toEqual(new TextEncoder().encode('/two'));
    two.read('https://a.example/%41');
    expect(two.bytes).toBeUndefined();
  });
});
