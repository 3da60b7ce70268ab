import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

/**
 * Answers to a request for robots.txt that are not one whole file, byte by byte. Each is made from {@link FILE}, which
 * disallows `/private`; read in part, still coded, or as another answer it would allow it.
 */
export const FILE = `#${'comment '.repeat(40)}\nUser-agent: *\nDisallow: /private\n`;

const OK = 'HTTP/1.1 200 OK\r\n';
/** A page may read the answer, but not all of its fields. */
const CORS = 'access-control-allow-origin: *\r\n';

function bytes(...parts: readonly (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
}

/** An answer with a length that fits its body. */
const answer = (fields: string, body: string | Uint8Array, status = OK): Uint8Array =>
  bytes(status, CORS, fields, `content-length: ${body.length}\r\n\r\n`, body);

/** The chunks cut the file within its names, so that nothing of it is a rule where they are left in the body. */
const CHUNKS = ['User-ag', 'ent: *\nDisal', 'low: /pri', 'vate\n']
  .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
  .join('');
const chunked = (field: string, end = '0\r\n\r\n'): Uint8Array =>
  bytes(OK, CORS, `transfer-encoding:${field}\r\n\r\n`, CHUNKS, end);

const ENCODE: Readonly<Record<string, (file: string) => Uint8Array>> = {
  gzip: (file) => gzipSync(file),
  br: (file) => brotliCompressSync(file),
  deflate: (file) => deflateSync(file),
  'raw deflate': (file) => deflateRawSync(file),
};

type Named = readonly [name: string, bytes: Uint8Array];

const half = (whole: Uint8Array): Uint8Array => whole.subarray(0, Math.floor(whole.length / 2));

const CODED: readonly Named[] = Object.entries(ENCODE).flatMap(([name, encode]): Named[] => {
  const field = name.replace('raw ', '');
  const spellings = [
    field,
    field.toUpperCase(),
    `${field}, identity`,
    ` \t${field}`,
    `${field},`,
    `"${field}"`,
  ];
  const coded = encode(FILE);
  return [
    ...spellings.flatMap((spelt): Named[] => [
      [`${name} as ${JSON.stringify(spelt)}`, answer(`content-encoding:${spelt}\r\n`, coded)],
      [`${name} as ${JSON.stringify(spelt)}, cut`, answer(`content-encoding:${spelt}\r\n`, half(coded))],
    ]),
    [`${name} without an byte`, bytes(OK, CORS, `content-encoding: ${field}\r\n\r\n`)],
    [`${name}, closed early`, bytes(OK, CORS, `content-encoding: ${field}\r\n\r\n`, half(encode(FILE)))],
    [
      `${name} after an empty stream`,
      answer(`content-encoding: ${field}\r\n`, bytes(encode(''), encode(FILE))),
    ],
    [`text after an empty ${name} stream`, answer(`content-encoding: ${field}\r\n`, bytes(encode(''), FILE))],
    [
      `${name} on a second line`,
      answer(`content-encoding: identity\r\ncontent-encoding: ${field}\r\n`, encode(FILE)),
    ],
    [
      `${name} before a second line`,
      answer(`content-encoding: ${field}\r\ncontent-encoding: identity\r\n`, encode(FILE)),
    ],
  ];
});

const OVER: Readonly<Record<string, (coded: Uint8Array) => Uint8Array>> = {
  br: brotliCompressSync,
  deflate: deflateSync,
  gzip: gzipSync,
};

/** RFC 8878: a frame with the first of its blocks, which is raw and holds `#`. */
const ZSTD_CUT = Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0, 1 << 3, 0, 0, 0x23);

export const framings: Readonly<Record<string, Uint8Array>> = Object.fromEntries<Uint8Array>([
  ...[
    ...['chunked\t', ' chunked ', ' chunked,', ' chunked ,', ' ,chunked', '', ' ', ' chunked;q=1'],
    ...[' gzip, chunked', ' chunked, chunked', ' identity', ' xchunked', ' chunked\x0b', ' "chunked"'],
    ...[' CHUNKED', ' chunked, identity', ' \tchunked'],
  ].map((field): Named => [`chunks under Transfer-Encoding:${JSON.stringify(field)}`, chunked(field)]),
  ['chunks without the last', chunked(' chunked', '')],
  ['chunks on two lines', chunked(' chunked\r\ntransfer-encoding: chunked')],
  ['chunks beside an identity line', chunked(' identity\r\ntransfer-encoding: chunked')],
  ['chunks folded', chunked('\r\n chunked')],
  ['chunks with a length', chunked(' chunked\r\ncontent-length: 3')],
  ...CODED,
  ...(
    [
      ['br, BR', 'br', 'br'],
      ['BR, DEFLATE', 'br', 'deflate'],
      ['deflate, BR', 'deflate', 'br'],
      ['gzip, GZIP', 'gzip', 'gzip'],
      ['br, gzip', 'br', 'gzip'],
      ['gzip, gzip', 'gzip', 'gzip'],
    ] as const
  ).map(([field, one, other]): Named => [
    `${field}, coded twice`,
    answer(`content-encoding: ${field}\r\n`, OVER[other]!(ENCODE[one]!(FILE))),
  ]),
  ['zstd, cut', answer('content-encoding: zstd\r\n', ZSTD_CUT)],
  // Node reads HTTP/0.9, HTTP/2.0 and RTSP/1.0 like HTTP/1.1: a site that says 404 in those says so about itself.
  ...[
    ...['HTTP/3.0', 'HTTP/2', 'HTTP/1', 'HTTP/11.1', 'HTTP/1.10', 'HTTP/0.0', 'HTTP/9.9', 'http/1.1'],
    ...[
      'HTTPS/1.1',
      'ICY',
      'HTTP/',
      'HTTP/1.1\t',
      'HTTP 1.1',
      ' HTTP/1.1',
      'XHTTP/1.1',
      'HTTP/1.x',
      'HTTP/-1.1',
    ],
  ].map((version): Named => [
    `a status line that begins ${JSON.stringify(version)}`,
    answer('', 'none', `${version} 404 Not Found\r\n`),
  ]),
  ...['0404', '4040', '40', '404x', '4 04', '-404', '+404', '0x194', '', '404.0'].map((status): Named => [
    `the status ${JSON.stringify(status)}`,
    answer('', 'none', `HTTP/1.1 ${status} Not Found\r\n`),
  ]),
  ...(
    [
      ['two lengths', `5\r\ncontent-length: ${FILE.length}`],
      ['two lengths in a list', `5, ${FILE.length}`],
      ['a length with a sign', '+5'],
      ['a negative length', '-5'],
      ['a length that is none', '0x5'],
      ['a length with a tail', '5x'],
    ] as const
  ).map(([name, length]): Named => [name, bytes(OK, CORS, `content-length: ${length}\r\n\r\n`, FILE)]),
  [
    'a file cut under its length',
    bytes(OK, CORS, `content-length: ${FILE.length}\r\n\r\n`, half(Buffer.from(FILE))),
  ],
  ...[
    'bytes 0-26/9999',
    'bytes 1-26/27',
    'bytes */27',
    'all',
    'lines 0-1/2',
    'bytes 0-26/27\r\ncontent-range: bytes 0-26/9999',
  ].map((range): Named => [
    `a part: ${JSON.stringify(range)}`,
    answer(`content-range: ${range}\r\n`, '#', 'HTTP/1.1 206 Partial\r\n'),
  ]),
  ['parts', answer(`content-type: multipart/byteranges; boundary=x\r\n`, '#', 'HTTP/1.1 206 Partial\r\n')],
]);

/** What the browser shows to a page, however much it hides of fields and codings. */
const SHOWN_TO_PAGES =
  /^(?:a part: |a file cut |chunks (?:under|on|beside|folded|without)|gzip as "gzip(?:, identity|,)"$|gzip (?:on|before) a second line$)/;

export function namesOfFramings(ofPages: boolean): readonly string[] {
  return Object.keys(framings).filter((name) => !ofPages || SHOWN_TO_PAGES.test(name));
}
