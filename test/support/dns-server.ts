import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';

/** Addresses of the family asked for, or what is wrong; `silence` never answers. */
export type DnsReply = readonly string[] | 'no-data' | 'no-name' | 'failure' | 'refusal' | 'silence';

export interface DnsQuestion {
  readonly name: string;
  readonly type: 'A' | 'AAAA';
}

/** A name server on a UDP port of 127.0.0.1. */
export interface DnsServer extends AsyncDisposable {
  /** As `Resolver.setServers` takes it. */
  readonly address: string;
  /** Every question so far, in order of arrival. */
  readonly questions: readonly DnsQuestion[];
  /** `A example.com`, in order of arrival. */
  asked(): string[];
  /** Questions that waited for their answers at the same time, at most. */
  peak(): number;
}

const TYPES: Readonly<Record<number, DnsQuestion['type']>> = { 1: 'A', 28: 'AAAA' };
const CODES = { 'no-data': 0, 'no-name': 3, failure: 2, refusal: 5 } as const;

/** RFC 1035 §4: as much of it as a stub resolver needs. */
export async function startDnsServer(
  answer: (question: DnsQuestion) => DnsReply | Promise<DnsReply>,
): Promise<DnsServer> {
  const questions: DnsQuestion[] = [];
  let waiting = 0;
  let peak = 0;
  // A burst of questions that overflows the buffer is lost, and asked again seconds later.
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4_194_304 });
  const replies = new Map<string, Promise<DnsReply>>();
  const replyTo = async (question: DnsQuestion): Promise<DnsReply> => {
    questions.push(question);
    waiting += 1;
    peak = Math.max(peak, waiting);
    const reply = await answer(question);
    waiting -= 1;
    return reply;
  };
  socket.on('message', (query, { port, address }) => {
    const { question, end } = readQuestion(query);
    // A client that waits long on a busy machine asks again, from the same port under the same ID: that is no other
    // question.
    const sent = `${port} ${query.toString('latin1')}`;
    const known = replies.get(sent) ?? replyTo(question);
    replies.set(sent, known);
    void known.then((reply) => {
      if (reply !== 'silence') socket.send(write(query, end, question, reply), port, address, () => {});
    });
  });
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closed ??= new Promise<void>((resolve) => {
      socket.close(resolve);
    }));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    asked: () => questions.map(({ name, type }) => `${type} ${name}`),
    peak: () => peak,
    [Symbol.asyncDispose]: close,
  };
}

const HEADER = 12;

function readQuestion(query: Buffer): { question: DnsQuestion; end: number } {
  const labels: string[] = [];
  let at = HEADER;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  const type = TYPES[query.readUInt16BE(at + 1)];
  if (type === undefined) throw new Error('Expected a question for A or AAAA');
  return { question: { name: labels.join('.').toLowerCase(), type }, end: at + 5 };
}

function write(
  query: Buffer,
  end: number,
  { type }: DnsQuestion,
  reply: Exclude<DnsReply, 'silence'>,
): Buffer {
  const addresses =
    typeof reply === 'string' ? [] : reply.filter((each) => isIP(each) === (type === 'A' ? 4 : 6));
  const header = Buffer.alloc(HEADER);
  query.copy(header, 0, 0, 2);
  // A response, recursion desired and available.
  header.writeUInt16BE(0x8180 | (typeof reply === 'string' ? CODES[reply] : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) => {
    const bytes = bytesOf(address);
    const record = Buffer.alloc(12 + bytes.length);
    record.writeUInt16BE(0xc000 | HEADER, 0);
    record.writeUInt16BE(type === 'A' ? 1 : 28, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(bytes.length, 10);
    record.set(bytes, 12);
    return record;
  });
  return Buffer.concat([header, query.subarray(HEADER, end), ...records]);
}

function bytesOf(address: string): number[] {
  if (!address.includes(':')) return address.split('.').map(Number);
  const [head = '', tail] = address
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const groups =
    tail === undefined
      ? [...head]
      : [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]);
}
