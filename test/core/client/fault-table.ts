import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import type { Steps } from '../../support/socket-steps.ts';

/** What is decided of `/x/page`, which {@link RULES} disallow. */
export interface Expected {
  readonly state: 'rules' | 'allow-all' | 'disallow-all';
  readonly reason: 'rule' | 'no-group' | 'unavailable' | 'unreachable';
  readonly status?: number;
  /** Code, or several where it depends on the system. */
  readonly error?: string | RegExp;
  readonly hops?: number;
}

export type TransportName = 'undici' | 'fetch' | 'got' | 'axios';

export interface Fault {
  readonly name: string;
  /** Request by request; the last stays. */
  readonly scripts: readonly Steps[];
  /** Who the server says it is; without it there is no TLS. */
  readonly tls?: 'expired' | 'not yet valid' | 'for another host' | 'self-signed' | 'mute';
  readonly expected: Expected;
  /**
   * Where another transport comes to something else. A `fetch` of the platform does not tell the end of a coded body, so
   * no coded body is taken.
   */
  readonly over?: Readonly<Partial<Record<TransportName, Expected>>>;
  readonly requests?: number;
  /** Something whole was answered, so that a connection may be kept. */
  readonly whole?: true;
}

export const RULES = 'User-agent: *\nDisallow: /x\n';

const rules = (status = 200): Expected => ({ state: 'rules', reason: 'rule', status });
const empty = (status = 200): Expected => ({ state: 'rules', reason: 'no-group', status });
const broken = (error: string | RegExp, status?: number): Expected => ({
  state: 'disallow-all',
  reason: 'unreachable',
  error,
  ...(status === undefined ? {} : { status }),
});
const unavailable = (status: number, hops: number): Expected => ({
  state: 'allow-all',
  reason: 'unavailable',
  status,
  hops,
});

/** Over Node's HTTP, whose parser is another. */
const byNode = (expected: Expected): NonNullable<Fault['over']> => ({ got: expected, axios: expected });

const LOST = /^(?:ECONNRESET|UND_ERR_SOCKET|EPIPE)$/;
export const DEADLINE = 'ERR_ROBOTS_DEADLINE';
const MALFORMED = 'ERR_ROBOTS_MALFORMED';

/** Which of the two an undici finds first depends on its version. */
const LENGTH_OR_MALFORMED = /^(?:UND_ERR_RES_CONTENT_LENGTH_MISMATCH|ERR_ROBOTS_MALFORMED)$/;
const CODING = 'ERR_ROBOTS_CONTENT_CODING';
const OK = 'HTTP/1.1 200 OK\r\n';

const TRANSFER = 'ERR_ROBOTS_TRANSFER_CODING';
const TRAILING = 'ERR_ROBOTS_TRAILING_BYTES';
const PARTIAL = 'ERR_ROBOTS_PARTIAL_CONTENT';

/** One chunk of a chunked body. */
function chunk(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/** A whole answer. */
function answer(status: number, fields: string, body: string | Uint8Array = ''): Steps {
  const length = status === 204 || status === 304 ? '' : `content-length: ${body.length}\r\n`;
  return [`HTTP/1.1 ${status} Status\r\n${fields}${length}\r\n`, body];
}

const redirect = (location: string): Steps => answer(302, `location: ${location}\r\n`);

const CODINGS: readonly (readonly [coding: string, encode: (text: string) => Uint8Array])[] = [
  ['gzip', (text) => gzipSync(text)],
  ['deflate', (text) => deflateSync(text)],
  ['br', (text) => brotliCompressSync(text)],
];

/** What may follow a coded stream. */
const TRAILERS: readonly (readonly [what: string, bytes: Uint8Array])[] = [
  ['text', Buffer.from(RULES)],
  ['zeros', Buffer.alloc(21)],
  ['a gzip member', gzipSync(RULES)],
];

const bomb = Buffer.concat([Buffer.from(RULES), Buffer.alloc(64 << 20, '#\n')]);
/** Bombs take seconds to make otherwise. */
const quickly = { level: 1, params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
/** Without the last bytes of its checksum. */
const truncatedGzip = gzipSync(RULES).subarray(0, -6);

/** What goes wrong on the way to a robots.txt, and what comes of it. */
export const FAULTS: readonly Fault[] = [
  // Connections
  { name: 'reset before the headers', scripts: [['reset']], expected: broken(LOST) },
  { name: 'closed before the headers', scripts: [['end']], expected: broken(LOST) },
  { name: 'reset within the headers', scripts: [[`${OK}content-`, 'reset']], expected: broken(LOST) },
  { name: 'closed within the headers', scripts: [[`${OK}content-`, 'end']], expected: broken(LOST) },
  {
    name: 'reset after the headers',
    scripts: [[`${OK}content-length: 99\r\n\r\n`, 'reset']],
    expected: broken(LOST, 200),
  },
  {
    name: 'reset mid-body',
    scripts: [[`${OK}content-length: 99\r\n\r\n${RULES}`, 'reset']],
    expected: broken(LOST, 200),
  },
  {
    name: 'closed mid-body',
    scripts: [[`${OK}content-length: 99\r\n\r\n${RULES}`, 'end']],
    expected: broken(LOST, 200),
  },
  {
    name: 'reset in a body without a length',
    scripts: [[`${OK}\r\n${RULES}`, 'reset']],
    // undici takes it for the end. Not promised.
    expected: rules(),
  },
  {
    name: 'closed mid-chunk',
    scripts: [[`${OK}transfer-encoding: chunked\r\n\r\nff\r\n${RULES}`, 'end']],
    expected: broken(LOST, 200),
  },
  {
    name: 'closed where a chunk should follow',
    scripts: [[`${OK}transfer-encoding: chunked\r\n\r\n1b\r\n${RULES}\r\n`, 'end']],
    expected: broken(LOST, 200),
  },

  // TLS
  { name: 'an expired certificate', tls: 'expired', scripts: [], expected: broken('CERT_HAS_EXPIRED') },
  {
    name: 'a certificate of the future',
    tls: 'not yet valid',
    scripts: [],
    expected: broken('CERT_NOT_YET_VALID'),
  },
  {
    name: 'the certificate of another host',
    tls: 'for another host',
    scripts: [],
    expected: broken('ERR_TLS_CERT_ALTNAME_INVALID'),
  },
  {
    name: 'a self-signed certificate',
    tls: 'self-signed',
    scripts: [],
    expected: broken('DEPTH_ZERO_SELF_SIGNED_CERT'),
  },
  { name: 'no TLS handshake', tls: 'mute', scripts: [], expected: broken(DEADLINE) },

  // Slowness
  { name: 'silence', scripts: [[]], expected: broken(DEADLINE) },
  {
    name: 'headers byte by byte',
    scripts: [[{ slowly: `${OK}x-long: ${'x'.repeat(999)}`, everyMs: 5 }]],
    expected: broken(DEADLINE),
  },
  {
    name: 'a body byte by byte',
    scripts: [[`${OK}\r\n${RULES}`, { slowly: '#'.repeat(999), everyMs: 5 }]],
    expected: broken(DEADLINE, 200),
  },

  // Too much
  {
    name: 'endless headers',
    scripts: [[OK, { endless: 'x-header: value\r\n'.repeat(500) }]],
    expected: broken('UND_ERR_HEADERS_OVERFLOW'),
    over: byNode(broken('HPE_HEADER_OVERFLOW')),
  },
  {
    name: 'a header field of 64 KiB',
    scripts: [answer(200, `x-long: ${'x'.repeat(65_536)}\r\n`, RULES)],
    expected: broken('UND_ERR_HEADERS_OVERFLOW'),
    over: byNode(broken('HPE_HEADER_OVERFLOW')),
  },
  {
    name: 'an endless body',
    scripts: [[`${OK}\r\n${RULES}`, { endless: '# and more\n'.repeat(1_000) }]],
    expected: rules(),
  },
  {
    name: 'an endless line',
    scripts: [[`${OK}\r\n${RULES}Disallow: /`, { endless: 'x'.repeat(10_000) }]],
    expected: rules(),
  },
  {
    name: 'endless chunks of one byte',
    scripts: [[`${OK}transfer-encoding: chunked\r\n\r\n`, { endless: '1\r\n#\r\n'.repeat(1_000) }]],
    expected: empty(),
  },
  {
    name: 'a gzip bomb',
    scripts: [answer(200, 'content-encoding: gzip\r\n', gzipSync(bomb, quickly))],
    expected: rules(),
    over: { fetch: broken(CODING, 200) },
    whole: true,
  },
  {
    name: 'a deflate bomb',
    scripts: [answer(200, 'content-encoding: deflate\r\n', deflateSync(bomb, quickly))],
    expected: rules(),
    over: { fetch: broken(CODING, 200) },
    whole: true,
  },
  {
    name: 'a brotli bomb',
    scripts: [answer(200, 'content-encoding: br\r\n', brotliCompressSync(bomb, quickly))],
    expected: rules(),
    over: { fetch: broken(CODING, 200) },
    whole: true,
  },
  {
    name: 'a flood of early hints',
    scripts: [[{ endless: 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n'.repeat(100) }]],
    expected: broken(MALFORMED),
    // Of the others none tells of them.
    over: { fetch: broken(DEADLINE), ...byNode(broken(DEADLINE)) },
  },

  // Codings
  {
    name: 'plain text that calls itself gzip',
    scripts: [answer(200, 'content-encoding: gzip\r\n', RULES)],
    expected: broken(CODING, 200),
    whole: true,
  },
  {
    name: 'gzip that calls itself brotli',
    scripts: [answer(200, 'content-encoding: br\r\n', gzipSync(RULES))],
    expected: broken(CODING, 200),
    whole: true,
  },
  {
    name: 'a coding that is not undone',
    scripts: [answer(200, 'content-encoding: zstd\r\n', RULES)],
    expected: broken(CODING, 200),
    whole: true,
  },
  ...['UTF-8', 'aws-chunked', 'none', 'binary'].map((label): Fault => ({
    name: `plain text with the label ${label}, which no coding has`,
    scripts: [answer(200, `content-encoding: ${label}\r\n`, RULES)],
    expected: rules(),
    whole: true,
  })),
  {
    name: 'what is no text, with a label that no coding has',
    scripts: [answer(200, 'content-encoding: none\r\n', '\u0000\u0001\u0002')],
    expected: broken('ERR_ROBOTS_NOT_TEXT', 200),
    whole: true,
  },
  ...['identity, gzip', 'gzip, identity', 'gzip,', ',gzip', 'gzip\r\ncontent-encoding: identity'].map(
    (field): Fault => ({
      name: `gzip in the list ${JSON.stringify(field)}`,
      scripts: [answer(200, `content-encoding: ${field}\r\n`, gzipSync(RULES))],
      expected: rules(),
      over: { fetch: broken(CODING, 200) },
      whole: true,
    }),
  ),
  {
    name: 'gzip that calls itself plain text',
    scripts: [answer(200, '', gzipSync(RULES))],
    expected: broken('ERR_ROBOTS_NOT_TEXT', 200),
    whole: true,
  },
  ...CODINGS.flatMap(([coding, encode]): readonly Fault[] => [
    {
      name: `${coding} of no bytes, closed after the header`,
      scripts: [[`${OK}content-encoding: ${coding}\r\n\r\n`, 'end']],
      expected: broken(CODING, 200),
    },
    {
      name: `${coding} of no bytes, reset after the header`,
      scripts: [[`${OK}content-encoding: ${coding}\r\n\r\n`, 'reset']],
      // undici takes a reset for the end of a body without a length.
      expected: broken(CODING, 200),
    },
    {
      name: `${coding} of no bytes, as the header says`,
      scripts: [answer(200, `content-encoding: ${coding}\r\n`)],
      expected: empty(),
      whole: true,
    },
    {
      name: `${coding} of an empty file`,
      scripts: [answer(200, `content-encoding: ${coding}\r\n`, encode(''))],
      expected: empty(),
      over: { fetch: broken(CODING, 200) },
      whole: true,
    },
    ...TRAILERS.map(([what, trailer]): Fault => ({
      name: `${what} after an empty ${coding} stream`,
      scripts: [answer(200, `content-encoding: ${coding}\r\n`, Buffer.concat([encode(''), trailer]))],
      expected: broken(TRAILING, 200),
      over: { fetch: broken(CODING, 200) },
      whole: true,
    })),
    {
      name: `text after a ${coding} stream`,
      scripts: [
        answer(200, `content-encoding: ${coding}\r\n`, Buffer.concat([encode(RULES), Buffer.from('#')])),
      ],
      expected: broken(TRAILING, 200),
      over: { fetch: broken(CODING, 200) },
      whole: true,
    },
  ]),
  {
    name: 'chunks of gzip with no bytes',
    scripts: [[`${OK}content-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`]],
    expected: broken(CODING, 200),
    whole: true,
  },
  {
    name: 'truncated gzip',
    scripts: [answer(200, 'content-encoding: gzip\r\n', truncatedGzip)],
    expected: broken(CODING, 200),
    whole: true,
  },

  // Framing
  {
    name: 'a chunk size that is none',
    scripts: [[`${OK}transfer-encoding: chunked\r\n\r\nzz\r\n${RULES}\r\n0\r\n\r\n`]],
    expected: broken(MALFORMED, 200),
    over: { axios: broken(LOST, 200) },
  },
  {
    name: 'a Content-Length that is too short',
    scripts: [[`${OK}content-length: ${RULES.length}\r\n\r\n${RULES}Disallow: /y\n`]],
    expected: rules(),
    over: { got: broken(MALFORMED, 200) },
  },
  {
    name: 'two values of Content-Length',
    scripts: [[`${OK}content-length: 2\r\ncontent-length: ${RULES.length}\r\n\r\n${RULES}`]],
    expected: broken(LENGTH_OR_MALFORMED),
  },
  {
    name: 'a NUL in a field',
    scripts: [[`${OK}x-nul: a\0b\r\ncontent-length: ${RULES.length}\r\n\r\n${RULES}`]],
    expected: broken(MALFORMED),
  },
  ...['gzip, chunked', 'gzip\r\ntransfer-encoding: chunked'].map((field): Fault => ({
    name: `chunks in the transfer coding ${JSON.stringify(field)}`,
    scripts: [[`${OK}transfer-encoding: ${field}\r\n\r\n`, chunk(gzipSync(RULES)), '0\r\n\r\n']],
    expected: broken(TRANSFER, 200),
    whole: true,
  })),
  // RFC 9110 §5.5: "A field value does not include leading or trailing whitespace."
  ...[' ', '  '].flatMap((space): Fault[] => [
    {
      name: `chunks, and ${JSON.stringify(space)} after the transfer coding`,
      scripts: [[`${OK}transfer-encoding: chunked${space}\r\n\r\n`, chunk(Buffer.from(RULES)), '0\r\n\r\n']],
      expected: rules(),
    },
    {
      name: `a Content-Length, and ${JSON.stringify(space)} after it`,
      scripts: [[`${OK}content-length: ${RULES.length}${space}\r\n\r\n${RULES}`]],
      expected: rules(),
    },
  ]),
  // The parser honours none of these, and leaves the chunks in the body.
  ...['chunked,', 'chunked ,', ',chunked', ''].map((field): Fault => ({
    name: `chunks in the transfer coding ${JSON.stringify(field)}`,
    scripts: [[`${OK}transfer-encoding: ${field}\r\n\r\n9\r\nUser-agen\r\n`, '0\r\n\r\n', 'end']],
    expected: broken(TRANSFER, 200),
  })),
  ...['gzip', 'chunked, gzip', 'chunked, chunked', 'identity'].map((coding): Fault => ({
    name: `a body closed in the transfer coding ${coding}`,
    scripts: [[`${OK}transfer-encoding: ${coding}\r\n\r\n`, gzipSync(RULES), 'end']],
    // The parser itself may not take it.
    expected: broken(/^ERR_ROBOTS_(?:TRANSFER_CODING|MALFORMED)$/, 200),
  })),
  {
    name: 'a transfer coding beside a Content-Length',
    scripts: [[`${OK}transfer-encoding: gzip\r\ncontent-length: 46\r\n\r\n`, gzipSync(RULES), 'end']],
    expected: broken(LENGTH_OR_MALFORMED),
  },
  { name: 'HTTP/0.9', scripts: [[RULES, 'end']], expected: broken(MALFORMED) },
  {
    name: 'a line end before the status line',
    scripts: [['\r\n', ...answer(200, '', RULES)]],
    expected: rules(),
    whole: true,
  },
  {
    name: 'another protocol',
    scripts: [['SSH-2.0-OpenSSH_9.6\r\n\r\n', 'end']],
    expected: broken(MALFORMED),
  },

  // Statuses
  {
    name: 'early hints before the answer',
    scripts: [['HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n', ...answer(200, '', RULES)]],
    expected: rules(),
    whole: true,
  },
  {
    name: 'an unsolicited 100 before the answer',
    scripts: [['HTTP/1.1 100 Continue\r\n\r\n', ...answer(200, '', RULES)]],
    expected: broken('UND_ERR_SOCKET'),
    over: byNode(rules()),
  },
  {
    name: 'early hints and no answer',
    scripts: [['HTTP/1.1 103 Early Hints\r\n\r\n', 'end']],
    expected: broken(LOST),
  },
  {
    name: 'an unsolicited change of protocols',
    scripts: [['HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n']],
    expected: broken(LOST),
    over: { got: broken(MALFORMED), axios: broken(DEADLINE) },
  },
  { name: '204', scripts: [answer(204, '')], expected: empty(204), whole: true },
  { name: '205', scripts: [answer(205, '')], expected: empty(205), whole: true },
  ...(
    [
      ['', rules(206)],
      [`content-range: bytes 0-${RULES.length - 1}/${RULES.length}\r\n`, rules(206)],
      ['content-range: bytes 0-26/9999\r\n', broken(PARTIAL, 206)],
      ['content-range: bytes 1-26/27\r\n', broken(PARTIAL, 206)],
      ['content-range: bytes 0-26/*\r\n', broken(PARTIAL, 206)],
      ['content-range: bytes */27\r\n', broken(PARTIAL, 206)],
      ['content-range: lines 0-1/2\r\n', broken(PARTIAL, 206)],
      ['content-range: all\r\n', broken(PARTIAL, 206)],
      ['content-range: bytes 0-26/27\r\ncontent-range: bytes 0-26/9999\r\n', broken(PARTIAL, 206)],
      ['content-type: multipart/byteranges; boundary=x\r\n', broken(PARTIAL, 206)],
    ] as const
  ).map(([fields, expected]): Fault => ({
    name: `an unsolicited 206 with ${JSON.stringify(fields)}`,
    scripts: [answer(206, fields, RULES)],
    expected,
    whole: true,
  })),
  {
    name: 'an unsolicited 304',
    scripts: [answer(304, 'etag: "v1"\r\n')],
    expected: broken('ERR_ROBOTS_NOT_MODIFIED', 304),
    whole: true,
  },
  { name: '600', scripts: [answer(600, '', RULES)], expected: broken('ERR_ROBOTS_STATUS', 600), whole: true },
  { name: '999', scripts: [answer(999, '', RULES)], expected: broken('ERR_ROBOTS_STATUS', 999), whole: true },

  // Redirects
  {
    name: '300 with a Location',
    scripts: [answer(300, 'location: /elsewhere\r\n', RULES)],
    expected: broken('ERR_ROBOTS_STATUS', 300),
    whole: true,
  },
  ...[
    '',
    ...['', 'http://', 'http://[::1', 'http://a b/', '//:x'].map((value) => `location: ${value}\r\n`),
  ].map((field): Fault => ({
    name: `a redirect with ${JSON.stringify(field)}`,
    scripts: [answer(302, field)],
    expected: broken('ERR_ROBOTS_REDIRECT_LOCATION', 302),
    whole: true,
  })),
  ...[
    ...'ftp://127.0.0.1/robots.txt javascript:alert(1) data:text/plain,Allow:/'.split(' '),
    ...'file:///etc/passwd about:blank'.split(' '),
  ].map((location): Fault => ({
    name: `a redirect to ${location}`,
    scripts: [redirect(location)],
    expected: broken('ERR_ROBOTS_REDIRECT_SCHEME', 302),
    whole: true,
  })),
  {
    name: 'a redirect to itself',
    scripts: [redirect('/robots.txt#')],
    expected: unavailable(302, 0),
    whole: true,
  },
  {
    name: 'a ring of three',
    scripts: [redirect('/b'), redirect('/c'), redirect('/robots.txt')],
    expected: unavailable(302, 2),
    requests: 3,
    whole: true,
  },
  {
    name: 'a redirect into silence',
    scripts: [redirect('/b'), []],
    expected: { ...broken(DEADLINE), hops: 1 },
    requests: 2,
    whole: true,
  },
];
