import { existsSync } from 'node:fs';
import { DEFAULT_MAX_BODY_BYTES, jsonLine, printable, quoted, count } from '../../../core/base/index.ts';
import { type Copy, type OriginRecord, profiles } from '../../../core/lifecycle/index.ts';
import {
  type CacheNamespace,
  type Decoded,
  readRecordKey,
  RecordCodec,
  type Rejection,
} from '../../../core/store/record-codec.ts';
import { readOrigin } from '../../answers/input/load-robots.ts';
import { type Session, UsageError, write } from '../../answers/session.ts';
import { ago, duration, grid } from '../../answers/text/layout.ts';
import { type ExitCode, exitCode, type ParsedArguments } from '../frame/command.ts';
import { isRedisUrl, type OpenedStore, openStore, warnDamaged } from '../frame/named-store.ts';
import { type Layout, layoutOf, readFormat, readStore } from '../frame/settings.ts';
import { notAmong } from '../frame/arguments.ts';

const ACTIONS = ['ls', 'show', 'clear'] as const;
type Action = (typeof ACTIONS)[number];

interface ActionContext {
  readonly store: OpenedStore['store'];
  readonly given: ParsedArguments;
  readonly session: Session;
  readonly origins: readonly string[];
}

/** Runs the action that the first operand names on a store. */
export async function runCache(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const { action, origins } = readOperands(given);
  const { store, close } = await openNamedStore(given, action === 'clear' ? 'rename' : 'throw');
  try {
    warnDamaged(store, session);
    return await actions[action]({ store, given, session, origins });
  } finally {
    await close();
  }
}

const actions: Readonly<Record<Action, (context: ActionContext) => Promise<ExitCode>>> = {
  ls: list,
  show,
  clear,
};

async function list(context: ActionContext): Promise<ExitCode> {
  const { stdout } = context.session;
  if (isForMachines(context)) {
    for await (const item of records(context)) await write(stdout, itemJson(item, false));
    return exitCode.success;
  }
  const rows: (readonly string[])[] = [];
  for await (const item of records(context)) rows.push(tableRow(item, Date.now()));
  await write(stdout, renderTable(rows, layoutOf(context.session)));
  return exitCode.success;
}

async function show(context: ActionContext): Promise<ExitCode> {
  const found = new Set<string>();
  for await (const item of records(context)) {
    found.add(item.origin);
    await write(context.session.stdout, itemJson(item, true));
  }
  return warnMissing(context, found);
}

async function clear(context: ActionContext): Promise<ExitCode> {
  const { store, origins } = context;
  if (origins.length === 0) {
    await store.clear();
    return exitCode.success;
  }
  const found = new Set<string>();
  for await (const { key, origin } of records(context)) {
    found.add(origin);
    await store.delete(key);
  }
  return warnMissing(context, found);
}

function warnMissing({ origins, session }: ActionContext, found: ReadonlySet<string>): ExitCode {
  const missing = origins.filter((origin) => !found.has(origin));
  for (const origin of missing)
    session.stderr.write(`canfetch: the store has no record of ${printable(origin)}\n`);
  return missing.length === 0 ? exitCode.success : exitCode.negative;
}

function isForMachines({ given, session }: ActionContext): boolean {
  return readFormat(given, session.stdout.isTTY === true ? 'text' : 'json') === 'json';
}

function readOperands({ operands: [word, ...urls] }: ParsedArguments): { action: Action; origins: string[] } {
  const action = ACTIONS.find((each) => each === word);
  if (action === undefined) throw notAmong('an action', ACTIONS, word);
  if (action === 'ls' && urls.length > 0) {
    throw new UsageError(`Expected nothing after ls, got ${quoted(urls[0] ?? '')}; leave it out`);
  }
  if (action === 'show' && urls.length === 0) {
    throw new UsageError('Expected a URL after show, got none; `canfetch cache ls` lists the origins');
  }
  return { action, origins: [...new Set(urls.map(readOrigin))] };
}

/** An entry of a store whose key names a record. `record` is absent when its value cannot be read. */
export interface StoredItem {
  readonly key: string;
  readonly namespace: CacheNamespace;
  readonly origin: string;
  readonly expiresAt: number;
  readonly record: OriginRecord | undefined;
  /** Why a client would reject the record. */
  readonly rejected: Rejection | undefined;
}

/**
 * Opens the store that `--store` names.
 *
 * @param onDamage A command that only reads never renames a database.
 * @throws UsageError when `--store` is absent or of an unknown kind, or when the file does not exist.
 */
async function openNamedStore(given: ParsedArguments, onDamage: 'rename' | 'throw'): Promise<OpenedStore> {
  const named = readStore(given);
  if (named === undefined) {
    throw new UsageError(
      'Expected --store STORE, got none; give the file that is the `path` of sqliteStore(), or redis://HOST:PORT',
    );
  }
  if (!isRedisUrl(named) && !existsSync(named)) {
    throw new UsageError(`Expected --store to be an existing file, got ${quoted(named)}; check the path`);
  }
  return openStore(named, onDamage);
}

/** The records of the origins; without any all. A record is rejected when no built-in profile would take it. */
async function* records({ store, origins, session }: ActionContext): AsyncGenerator<StoredItem> {
  const codecs = Object.values(profiles).map(
    (profile) => new RecordCodec({ maxBodyBytes: DEFAULT_MAX_BODY_BYTES, profileOf: () => profile }),
  );
  const isWanted = (key: string): boolean => {
    const origin = readRecordKey(key)?.origin;
    return origin !== undefined && (origins.length === 0 || origins.includes(origin));
  };
  for await (const { key, value, expiresAt } of store.entries(isWanted)) {
    session.signal.throwIfAborted();
    const named = readRecordKey(key);
    if (named === undefined) continue;
    const { origin, ...namespace } = named;
    let decoded: Decoded = { rejected: 'damaged' };
    for (const codec of codecs)
      if (decoded.record === undefined) decoded = codec.decode(value, Date.now(), origin);
    yield { key, namespace, origin, expiresAt, record: decoded.record, rejected: decoded.rejected };
  }
}

/** Renders a record as a line of NDJSON. `whole` adds the text of its file. */
export function itemJson(
  { namespace, origin, expiresAt, record, rejected }: StoredItem,
  whole: boolean,
): string {
  const { answer, copy, failure, site }: Partial<OriginRecord> = record ?? {};
  const { token: agent, addressPolicy } = namespace;
  const head = { origin, agent, addressPolicy, expiresAt, rejected };
  return jsonLine({ ...head, answer, failure, site, copy: copy && copyAsJson(copy, whole) });
}

function copyAsJson({ body, ...rest }: Copy, whole: boolean): object {
  return { ...rest, bytes: body.length, ...(whole ? { text: textOf(body) } : {}) };
}

/** The table row of a record. It leaves the file out, because the files of a store may not fit into memory. */
export function tableRow(item: StoredItem, now: number): readonly string[] {
  const { origin, namespace, expiresAt, record } = item;
  const fetchedAt = (record?.answer ?? record?.copy)?.fetchedAt;
  return [
    printable(origin),
    printable(namespace.token),
    inShort(item),
    record?.copy === undefined ? '' : count(record.copy.body.length, 'byte'),
    fetchedAt === undefined ? '' : ago(fetchedAt, now),
    duration(expiresAt - now),
  ];
}

function renderTable(rows: readonly (readonly string[])[], { colours }: Layout): string {
  const head = ['origin', 'agent', 'answer', 'file', 'fetched', 'kept for'];
  return `${grid([head, ...rows], colours.strong).join('\n')}\n`;
}

function inShort({ record, rejected }: StoredItem): string {
  if (record === undefined) return `rejected: ${rejected ?? 'damaged'}`;
  const { answer, failure } = record;
  const said = answer === undefined ? [] : [`${answer.kind} (${answer.status})`];
  const failing = failure === undefined ? [] : [`failing (${failure.status ?? printable(failure.error)})`];
  return [...said, ...failing].join(', ') || 'site signal only';
}

const textOf = (body: Uint8Array): string => new TextDecoder().decode(body);
