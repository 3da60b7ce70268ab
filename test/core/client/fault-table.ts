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

export const rules = (status = 200): Expected => ({ state: 'rules', reason: 'rule', status });
const empty = (status = 200): Expected => ({ state: 'rules', reason: 'no-group', status });
export const broken = (error: string | RegExp, status?: number): Expected => ({
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

/** Over Node's HTTP, whose parser is another, and changes with the lines of Node. */
const byNode = (expected: Expected): NonNullable<Fault['over']> => ({ got: expected, axios: expected });

const NODE = Number.parseInt(process.versions.node);

const LOST = /^(?:ECONNRESET|UND_ERR_SOCKET|EPIPE)$/;
export const DEADLINE = 'ERR_ROBOTS_DEADLINE';
const MALFORMED = 'ERR_ROBOTS_MALFORMED';

/** Which of the two an undici finds first depends on its version. */
const LENGTH_OR_MALFORMED = /^(?:UND_ERR_RES_CONTENT_LENGTH_MISMATCH|ERR_ROBOTS_MALFORMED)$/;
const CODING = 'ERR_ROBOTS_CONTENT_CODING';
const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;

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

const coded = (coding: string, body: string | Uint8Array): Steps =>
  answer(200, `content-encoding: ${coding}\r\n`, body);
const redirect = (location: string): Steps => answer(302, `location: ${location}\r\n`);

const CODINGS: readonly (readonly [coding: string, encode: (text: string) => Uint8Array])[] = [
  ['gzip', (text) => gzipSync(text)],
  ['deflate', (text) => deflateSync(text)],
  ['br', (text) => brotliCompressSync(text)],
];

const bomb = Buffer.concat([Buffer.from(RULES), Buffer.alloc(64 << 20, '#\n')]);
/** Bombs take seconds to make otherwise. */
const quickly = { level: 1, params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
/** Without the last bytes of its checksum. */
const truncatedGzip = gzipSync(RULES).subarray(0, -6);

const fault = (
  name: string,
  scripts: readonly Steps[],
  expected: Expected,
  more: Partial<Fault> = {},
): Fault => ({ name, scripts, expected, ...more });

/** One whose answer is whole, so that its connection may be kept. */
const whole: typeof fault = (name, scripts, expected, more) =>
  fault(name, scripts, expected, { whole: true, ...more });

/** A `fetch` of the platform undoes no coding here. */
const UNDONE: Partial<Fault> = { over: { fetch: broken(CODING, 200) } };

/** From Node 24 on its requests tell got of a reset that others take for the end. */
const RESET_SEEN: Partial<Fault> = { over: NODE < 24 ? {} : { got: broken(LOST, 200) } };

/**
 * What goes wrong on the way to a robots.txt, and what comes of it. Lists of codings and ranges are told apart in the tests
 * of fetch.
 */
export const FAULTS: readonly Fault[] = [
  // Connections
  fault('reset before the headers', [['reset']], broken(LOST)),
  fault('closed before the headers', [['end']], broken(LOST)),
  fault('reset within the headers', [[`${OK}content-`, 'reset']], broken(LOST)),
  fault('closed within the headers', [[`${OK}content-`, 'end']], broken(LOST)),
  fault('reset after the headers', [[`${OK}content-length: 99\r\n\r\n`, 'reset']], broken(LOST, 200)),
  fault('reset mid-body', [[`${OK}content-length: 99\r\n\r\n${RULES}`, 'reset']], broken(LOST, 200)),
  fault('closed mid-body', [[`${OK}content-length: 99\r\n\r\n${RULES}`, 'end']], broken(LOST, 200)),
  // undici takes it for the end. Not promised.
  fault('reset in a body without a length', [[`${OK}\r\n${RULES}`, 'reset']], rules(), RESET_SEEN),
  fault('closed mid-chunk', [[`${CHUNKED}ff\r\n${RULES}`, 'end']], broken(LOST, 200)),
  fault('closed where a chunk should follow', [[`${CHUNKED}1b\r\n${RULES}\r\n`, 'end']], broken(LOST, 200)),

  // TLS
  fault('an expired certificate', [], broken('CERT_HAS_EXPIRED'), { tls: 'expired' }),
  fault('a certificate of the future', [], broken('CERT_NOT_YET_VALID'), { tls: 'not yet valid' }),
  fault('the certificate of another host', [], broken('ERR_TLS_CERT_ALTNAME_INVALID'), {
    tls: 'for another host',
  }),
  fault('a self-signed certificate', [], broken('DEPTH_ZERO_SELF_SIGNED_CERT'), { tls: 'self-signed' }),
  fault('no TLS handshake', [], broken(DEADLINE), { tls: 'mute' }),

  // Slowness
  fault('silence', [[]], broken(DEADLINE)),
  fault(
    'headers byte by byte',
    [[{ slowly: `${OK}x-long: ${'x'.repeat(999)}`, everyMs: 5 }]],
    broken(DEADLINE),
  ),
  fault(
    'a body byte by byte',
    [[`${OK}\r\n${RULES}`, { slowly: '#'.repeat(999), everyMs: 5 }]],
    broken(DEADLINE, 200),
  ),

  // Too much
  fault(
    'endless headers',
    [[OK, { endless: 'x-header: value\r\n'.repeat(500) }]],
    broken('UND_ERR_HEADERS_OVERFLOW'),
    { over: byNode(broken('HPE_HEADER_OVERFLOW')) },
  ),
  fault(
    'a header field of 64 KiB',
    [answer(200, `x-long: ${'x'.repeat(65_536)}\r\n`, RULES)],
    broken('UND_ERR_HEADERS_OVERFLOW'),
    { over: byNode(broken('HPE_HEADER_OVERFLOW')) },
  ),
  fault('an endless body', [[`${OK}\r\n${RULES}`, { endless: '# and more\n'.repeat(1_000) }]], rules()),
  fault('an endless line', [[`${OK}\r\n${RULES}Disallow: /`, { endless: 'x'.repeat(10_000) }]], rules()),
  fault('endless chunks of 8 bytes', [[CHUNKED, { endless: '8\r\n#######\n\r\n'.repeat(1_000) }]], empty()),
  whole('a gzip bomb', [coded('gzip', gzipSync(bomb, quickly))], rules(), UNDONE),
  whole('a deflate bomb', [coded('deflate', deflateSync(bomb, quickly))], rules(), UNDONE),
  whole('a brotli bomb', [coded('br', brotliCompressSync(bomb, quickly))], rules(), UNDONE),
  // Of the others none tells of them.
  fault(
    'a flood of early hints',
    [[{ endless: 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n'.repeat(100) }]],
    broken(MALFORMED),
    { over: { fetch: broken(DEADLINE), ...byNode(broken(DEADLINE)) } },
  ),

  // Codings
  whole('plain text that calls itself gzip', [coded('gzip', RULES)], broken(CODING, 200)),
  whole('gzip that calls itself brotli', [coded('br', gzipSync(RULES))], broken(CODING, 200)),
  whole('a coding that is not undone', [coded('zstd', RULES)], broken(CODING, 200)),
  whole(
    'what is no text, with a label that no coding has',
    [coded('none', '\u0000\u0001\u0002')],
    broken('ERR_ROBOTS_NOT_TEXT', 200),
  ),
  whole(
    'gzip that calls itself plain text',
    [answer(200, '', gzipSync(RULES))],
    broken('ERR_ROBOTS_NOT_TEXT', 200),
  ),
  ...CODINGS.flatMap(([coding, encode]): readonly Fault[] => [
    fault(
      `${coding} of no bytes, closed after the header`,
      [[`${OK}content-encoding: ${coding}\r\n\r\n`, 'end']],
      broken(CODING, 200),
    ),
    // undici takes a reset for the end of a body without a length.
    fault(
      `${coding} of no bytes, reset after the header`,
      [[`${OK}content-encoding: ${coding}\r\n\r\n`, 'reset']],
      broken(CODING, 200),
      RESET_SEEN,
    ),
    whole(
      `text after a ${coding} stream`,
      [coded(coding, Buffer.concat([encode(RULES), Buffer.from('#')]))],
      broken(coding === 'gzip' ? CODING : TRAILING, 200),
      UNDONE,
    ),
  ]),
  whole(
    'chunks of gzip with no bytes',
    [[`${OK}content-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`]],
    broken(CODING, 200),
  ),
  whole('truncated gzip', [coded('gzip', truncatedGzip)], broken(CODING, 200)),

  // Framing
  fault('a chunk size that is none', [[`${CHUNKED}zz\r\n${RULES}\r\n0\r\n\r\n`]], broken(MALFORMED, 200), {
    over: { axios: broken(LOST, 200) },
  }),
  fault(
    'a Content-Length that is too short',
    [[`${OK}content-length: ${RULES.length}\r\n\r\n${RULES}Disallow: /y\n`]],
    rules(),
    { over: { got: broken(MALFORMED, 200) } },
  ),
  fault(
    'two values of Content-Length',
    [[`${OK}content-length: 2\r\ncontent-length: ${RULES.length}\r\n\r\n${RULES}`]],
    broken(LENGTH_OR_MALFORMED),
  ),
  fault(
    'a NUL in a field',
    [[`${OK}x-nul: a\0b\r\ncontent-length: ${RULES.length}\r\n\r\n${RULES}`]],
    broken(MALFORMED),
  ),
  ...['gzip, chunked', 'gzip\r\ntransfer-encoding: chunked'].map((field): Fault =>
    whole(
      `chunks in the transfer coding ${JSON.stringify(field)}`,
      [[`${OK}transfer-encoding: ${field}\r\n\r\n`, chunk(gzipSync(RULES)), '0\r\n\r\n']],
      broken(TRANSFER, 200),
    ),
  ),
  // RFC 9110 §5.5: "A field value does not include leading or trailing whitespace."
  ...[' ', '  '].flatMap((space): Fault[] => [
    whole(
      `chunks, and ${JSON.stringify(space)} after the transfer coding`,
      [[`${OK}transfer-encoding: chunked${space}\r\n\r\n`, chunk(Buffer.from(RULES)), '0\r\n\r\n']],
      rules(),
    ),
    whole(
      `a Content-Length, and ${JSON.stringify(space)} after it`,
      [[`${OK}content-length: ${RULES.length}${space}\r\n\r\n${RULES}`]],
      rules(),
    ),
  ]),
  // The parser honours none of these, and leaves the chunks in the body.
  ...['chunked,', 'chunked ,', ',chunked', ''].map((field): Fault =>
    fault(
      `chunks in the transfer coding ${JSON.stringify(field)}`,
      [[`${OK}transfer-encoding: ${field}\r\n\r\n9\r\nUser-agen\r\n`, '0\r\n\r\n', 'end']],
      broken(TRANSFER, 200),
      field === '' && NODE > 20 ? { over: byNode(broken(MALFORMED)) } : {},
    ),
  ),
  ...['gzip', 'chunked, gzip', 'chunked, chunked', 'identity'].map((coding): Fault =>
    // The parser itself may not take it.
    fault(
      `a body closed in the transfer coding ${coding}`,
      [[`${OK}transfer-encoding: ${coding}\r\n\r\n`, gzipSync(RULES), 'end']],
      broken(/^ERR_ROBOTS_(?:TRANSFER_CODING|MALFORMED)$/, 200),
    ),
  ),
  fault(
    'a transfer coding beside a Content-Length',
    [[`${OK}transfer-encoding: gzip\r\ncontent-length: 46\r\n\r\n`, gzipSync(RULES), 'end']],
    broken(LENGTH_OR_MALFORMED),
  ),
  fault('HTTP/0.9', [[RULES, 'end']], broken(MALFORMED)),
  whole('a line end before the status line', [['\r\n', ...answer(200, '', RULES)]], rules()),
  fault('another protocol', [['SSH-2.0-OpenSSH_9.6\r\n\r\n', 'end']], broken(MALFORMED)),

  // Statuses
  whole(
    'early hints before the answer',
    [['HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n', ...answer(200, '', RULES)]],
    rules(),
  ),
  whole(
    'an unsolicited 100 before the answer',
    [['HTTP/1.1 100 Continue\r\n\r\n', ...answer(200, '', RULES)]],
    broken('UND_ERR_SOCKET'),
    { over: byNode(rules()) },
  ),
  fault('early hints and no answer', [['HTTP/1.1 103 Early Hints\r\n\r\n', 'end']], broken(LOST)),
  fault(
    'an unsolicited change of protocols',
    [['HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n']],
    broken(LOST),
    { over: { got: broken(MALFORMED), axios: broken(DEADLINE) } },
  ),
  whole('204', [answer(204, '')], empty(204)),
  whole('205', [answer(205, '')], empty(205)),
  ...(
    [
      ['', rules(206)],
      [`content-range: bytes 0-${RULES.length - 1}/${RULES.length}\r\n`, rules(206)],
      ['content-range: bytes 0-26/9999\r\n', broken(PARTIAL, 206)],
      ['content-range: bytes 0-26/*\r\n', broken(PARTIAL, 206)],
      ['content-range: bytes 0-26/27\r\ncontent-range: bytes 0-26/9999\r\n', broken(PARTIAL, 206)],
      ['content-type: multipart/byteranges; boundary=x\r\n', broken(PARTIAL, 206)],
    ] as const
  ).map(([fields, expected]): Fault =>
    whole(`an unsolicited 206 with ${JSON.stringify(fields)}`, [answer(206, fields, RULES)], expected),
  ),
  whole('an unsolicited 304', [answer(304, 'etag: "v1"\r\n')], broken('ERR_ROBOTS_NOT_MODIFIED', 304)),
  whole('600', [answer(600, '', RULES)], broken('ERR_ROBOTS_STATUS', 600)),
  whole('999', [answer(999, '', RULES)], broken('ERR_ROBOTS_STATUS', 999)),

  // Redirects
  whole(
    '300 with a Location',
    [answer(300, 'location: /elsewhere\r\n', RULES)],
    broken('ERR_ROBOTS_STATUS', 300),
  ),
  ...[
    '',
    ...['', 'http://', 'http://[::1', 'http://a b/', '//:x'].map((value) => `location: ${value}\r\n`),
  ].map((field): Fault =>
    whole(
      `a redirect with ${JSON.stringify(field)}`,
      [answer(302, field)],
      broken('ERR_ROBOTS_REDIRECT_LOCATION', 302),
    ),
  ),
  ...[
    ...'ftp://127.0.0.1/robots.txt javascript:alert(1) data:text/plain,Allow:/'.split(' '),
    ...'file:///etc/passwd about:blank'.split(' '),
  ].map((location): Fault =>
    whole(`a redirect to ${location}`, [redirect(location)], broken('ERR_ROBOTS_REDIRECT_SCHEME', 302)),
  ),
  whole('a redirect to itself', [redirect('/robots.txt#')], unavailable(302, 0)),
  whole('a ring of three', [redirect('/b'), redirect('/c'), redirect('/robots.txt')], unavailable(302, 2), {
    requests: 3,
  }),
  whole('a redirect into silence', [redirect('/b'), []], { ...broken(DEADLINE), hops: 1 }, { requests: 2 }),
];
