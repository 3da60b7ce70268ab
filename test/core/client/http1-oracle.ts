import { parseRobots } from '../../../src/core/rules/index.ts';

/** What a client is to make of the bytes of a server about `/x/page`, as RFC 9112 reads them. */
export type Judgement =
  /** A whole response with a 4xx. */
  | 'allowed'
  /** A whole file, whose rules disallow or allow. */
  | 'disallowed by rules'
  | 'allowed by rules'
  /** No whole, valid response that allows. */
  | 'refused'
  /** RFC 9112 leaves it to the client, which may also refuse. */
  | 'allowed or refused'
  | 'disallowed by rules or refused';

interface Head {
  readonly status: number;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly end: number;
}

/** RFC 9112 §4 and §5: `status-line = HTTP-version SP status-code SP [ reason-phrase ]`, which most omit the last SP of. */
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const FIELD_LINE = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*((?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)[ \t]*$/;

/** Judges the bytes of a connection that ends after them. Each character of `text` is a byte. */
export function judge(text: string): Judgement {
  let at = 0;
  // A robust client skips empty lines. RFC 9112 §2.2: a bare CR is invalid.
  while (/^\r?\n/.test(text.slice(at, at + 2))) at += text[at] === '\r' ? 2 : 1;
  for (let interim = 0; ; interim++) {
    const head = headAt(text, at);
    if (head === undefined || head.status === 101) return 'refused';
    // RFC 9110 §15.2 sets no limit; a client may.
    if (head.status >= 200) return judgeFinal(head, text.slice(head.end));
    if (interim >= 32) return 'refused';
    at = head.end;
    while (/^\r?\n/.test(text.slice(at, at + 2))) at += text[at] === '\r' ? 2 : 1;
  }
}

function headAt(text: string, at: number): Head | undefined {
  const end = text.indexOf('\r\n\r\n', at);
  if (end < 0) return undefined;
  const [statusLine = '', ...lines] = text.slice(at, end).split('\r\n');
  const [, minor, status] = STATUS_LINE.exec(statusLine) ?? [];
  const fields = lines.map((line) => FIELD_LINE.exec(line));
  if (status === undefined || fields.includes(null)) return undefined;
  // RFC 9110 §15.2: "HTTP/1.0 did not define any 1xx status codes".
  if (minor === '0' && status.startsWith('1')) return undefined;
  return {
    status: Number(status),
    fields: fields.map((field) => [field![1]!.toLowerCase(), field![2]!]),
    end: end + 4,
  };
}

function judgeFinal({ status, fields }: Head, rest: string): Judgement {
  const of = (name: string): string[] => fields.flatMap(([key, value]) => (key === name ? [value] : []));
  const [codings, lengths] = [of('transfer-encoding'), of('content-length')];
  const isDoubtful =
    (codings.length > 0 && lengths.length > 0) ||
    lengths.length > 1 ||
    lengths.some((each) => !/^\d{1,9}$/.test(each)) ||
    // RFC 9110 §8.6: a 204 must not have one.
    (status === 204 && codings.length + lengths.length > 0);
  if (status >= 400 && status < 500 && status !== 429) {
    return isDoubtful || codings.length > 1 ? 'allowed or refused' : 'allowed';
  }
  if (status < 200 || status >= 300) return 'refused';
  const body = status === 204 ? '' : bodyOf(codings, lengths, rest);
  if (body === undefined) return 'refused';
  const rules = parseRobots(Buffer.from(body, 'latin1')).check('/x/page', 'ExampleBot');
  if (rules.allowed) return isDoubtful ? 'allowed or refused' : 'allowed by rules';
  return isDoubtful ? 'disallowed by rules or refused' : 'disallowed by rules';
}

/** RFC 9112 §6.3: the message body length. `undefined` where it is not whole, or its framing is invalid. */
function bodyOf(codings: readonly string[], lengths: readonly string[], rest: string): string | undefined {
  if (codings.length > 0)
    return codings.length === 1 && /^chunked$/i.test(codings[0]!) ? dechunked(rest) : undefined;
  const [length] = lengths;
  if (length === undefined) return rest;
  if (!/^\d{1,9}$/.test(length) || lengths.some((each) => each !== length)) return undefined;
  return rest.length < Number(length) ? undefined : rest.slice(0, Number(length));
}

/** RFC 9112 §7.1. */
function dechunked(rest: string): string | undefined {
  let body = '';
  for (let at = 0; ;) {
    const [line, size] = /^([\da-f]{1,6})(?:[ \t]*;[\t\x20-\x7e]*)?\r\n/i.exec(rest.slice(at)) ?? [];
    if (line === undefined) return undefined;
    at += line.length;
    const length = Number.parseInt(size!, 16);
    if (length === 0)
      return /^(?:[!#$%&'*+.^_`|~\w-]+:[\t\x20-\x7e]*\r\n)*\r\n/.test(rest.slice(at)) ? body : undefined;
    if (rest.slice(at + length, at + length + 2) !== '\r\n') return undefined;
    body += rest.slice(at, at + length);
    at += length + 2;
  }
}
