import { createInterface } from 'node:readline';
import { omitUndefined, jsonLine, printable, quoted } from '../../../core/base/index.ts';
import { snapshotHeader } from '../../../core/cache/snapshot.ts';
import { DEFAULT_ADDRESS_POLICY } from '../../../core/net/address-policy.ts';
import { readOrigin } from '../../answers/input/load-robots.ts';
import { type Session, UsageError } from '../../answers/session.ts';
import { ago, ahead, count, definitions, duration, grid } from '../../answers/text/layout.ts';
import { Output } from '../../answers/text/output.ts';
import type { ImportLine, StoredLine } from '../../answers/schema.ts';
import { productToken } from '../../../core/rules/index.ts';
import { type CacheNamespace, namespaceKey } from '../../../core/store/record/record-codec.ts';
import { cacheActions } from '../frame/options.ts';
import { type ExitCode, exitCode, type ParsedArguments } from '../frame/command.ts';
import { warnDamaged } from '../frame/open-client.ts';
import { type Layout, layoutOf, readAgents, readFormat, readProfile } from '../frame/settings.ts';
import { notAmong } from '../frame/arguments.ts';
import { type CommandStore, importSnapshot, openCommandStore, type StoredItem } from './command-store.ts';
import type { Copy, OriginRecord } from '../../../core/lifecycle/index.ts';

type Action = (typeof cacheActions)[number];

interface ActionContext {
  readonly opened: CommandStore;
  readonly given: ParsedArguments;
  readonly session: Session;
  readonly output: Output;
  readonly whose: Partial<CacheNamespace>;
  readonly origins: readonly string[];
}

/** Runs the action that the first operand names on a store. */
export async function runCache(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const { action, origins } = readOperands(given);
  const whose = readNamespace(given);
  if (action === 'import' && whose.token === undefined) {
    throw new UsageError('Expected --agent with import, got none; a snapshot does not contain its agent');
  }
  await using opened = await openCommandStore(given, ACCESS[action]);
  warnDamaged(opened.store, session);
  const output = new Output(session.stdout);
  const code = await actions[action]({ opened, given, session, output, whose, origins });
  await output.release();
  return code;
}

const ACCESS = {
  ls: 'read',
  show: 'read',
  export: 'read',
  clear: 'write',
  import: 'create',
} as const satisfies Record<Action, unknown>;

const actions: Readonly<Record<Action, (context: ActionContext) => Promise<ExitCode>>> = {
  ls: list,
  show,
  clear,
  export: exportAll,
  import: importAll,
};

async function list(context: ActionContext): Promise<ExitCode> {
  const { given, session, output } = context;
  if (isForMachines(context)) {
    for await (const item of records(context)) await output.write(itemJson(item, false));
    return exitCode.success;
  }
  const rows: (readonly string[])[] = [];
  for await (const item of records(context)) rows.push(tableRow(item, Date.now()));
  await output.write(renderTable(rows, layoutOf(given, session)));
  return exitCode.success;
}

async function show(context: ActionContext): Promise<ExitCode> {
  const { given, session, output } = context;
  const found = new Set<string>();
  for await (const item of records(context)) {
    found.add(item.origin);
    const text = isForMachines(context) ? itemJson(item, true) : renderItem(item, layoutOf(given, session));
    await output.write(text);
  }
  return warnMissing(context, found);
}

async function clear(context: ActionContext): Promise<ExitCode> {
  const { opened, whose, origins } = context;
  if (origins.length === 0 && Object.keys(whose).length === 0) {
    await opened.store.clear();
    return exitCode.success;
  }
  const found = new Set<string>();
  for await (const { key, origin } of records(context)) {
    found.add(origin);
    await opened.store.delete(key);
  }
  return warnMissing(context, found);
}

/**
 * Reads the store twice: first to count the records and check that they share one namespace, then to write them.
 * Only the keys are held in memory.
 */
async function exportAll(context: ActionContext): Promise<ExitCode> {
  const { opened, session, output } = context;
  const keys: string[] = [];
  const namespaces = new Set<string>();
  let unread = 0;
  for await (const { key, namespace, record } of records(context)) {
    if (record === undefined) unread++;
    else {
      keys.push(key);
      namespaces.add(namespaceKey(namespace));
    }
  }
  if (namespaces.size > 1) {
    throw new UsageError(
      'Expected --agent and --address-policy, because the store has records of several ' +
        `(${[...namespaces].map((namespace) => printable(namespace)).join(', ')}); give one of them`,
    );
  }
  await output.write(snapshotHeader(keys.length, Date.now()));
  for (const key of keys) {
    session.signal.throwIfAborted();
    const { record } = opened.decode(await opened.store.get(key));
    if (record !== undefined) await output.write(`${opened.codec.encode(record)}\n`);
  }
  if (unread > 0)
    session.stderr.write(`canfetch: left out ${count(unread, 'record')} that no client would accept\n`);
  return exitCode.success;
}

async function importAll({ opened, given, session, output, whose }: ActionContext): Promise<ExitCode> {
  const { signal } = session;
  const lines = createInterface({ input: session.stdin, signal });
  const namespace = { token: '', addressPolicy: DEFAULT_ADDRESS_POLICY, ...whose };
  const { error, ...done } = await importSnapshot(lines, opened, { namespace, profile: readProfile(given) });
  await output.write(jsonLine<ImportLine>(done));
  signal.throwIfAborted();
  if (error !== undefined) {
    const reason = error instanceof Error ? error.message : String(error);
    session.stderr.write(`canfetch: the store takes no more records: ${printable(reason)}\n`);
    return exitCode.failure;
  }
  return done.rejected + done.missing === 0 ? exitCode.success : exitCode.negative;
}

function records({ opened, whose, origins, session }: ActionContext): AsyncIterable<StoredItem> {
  return opened.records(whose, origins, session.signal);
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
  const action = cacheActions.find((each) => each === word);
  if (action === undefined) throw notAmong('an action', cacheActions, word);
  const takesUrls = action === 'show' || action === 'clear';
  if (!takesUrls && urls.length > 0) {
    throw new UsageError(`Expected nothing after ${action}, got ${quoted(urls[0] ?? '')}; leave it out`);
  }
  if (action === 'show' && urls.length === 0) {
    throw new UsageError('Expected a URL after show, got none; `canfetch cache ls` lists the origins');
  }
  return { action, origins: [...new Set(urls.map(readOrigin))] };
}

/** Reads the namespace fields that the options restrict the records to. */
function readNamespace(given: ParsedArguments): Partial<CacheNamespace> {
  const [agent] = readAgents(given);
  const addressPolicy = given.values.get('address-policy')?.[0];
  const token = agent === undefined ? undefined : productToken(agent)?.toLowerCase();
  if (agent !== undefined && token === undefined) {
    throw new UsageError('Expected --agent to name an agent, got "*"; leave it out to select all agents');
  }
  return omitUndefined({ token, addressPolicy });
}

/** Renders a record as a line of NDJSON. `whole` adds the text of its file. */
export function itemJson(
  { namespace, origin, expiresAt, record, rejected }: StoredItem,
  whole: boolean,
): string {
  const { answer, copy, failure, site }: Partial<OriginRecord> = record ?? {};
  const { token: agent, addressPolicy } = namespace;
  const head = { origin, agent, addressPolicy, expiresAt, rejected };
  return jsonLine<StoredLine>({ ...head, answer, failure, site, copy: copy && copyAsJson(copy, whole) });
}

function copyAsJson({ body, ...rest }: Copy, whole: boolean): StoredLine['copy'] {
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

/** Renders the record of an origin as text, with the file below it. */
export function renderItem(item: StoredItem, { colours, width, now }: Layout): string {
  const { answer, copy, failure }: Partial<OriginRecord> = item.record ?? {};
  const fields: (readonly [string, string])[] = [
    ['agent', `${printable(item.namespace.token)}, addresses ${printable(item.namespace.addressPolicy)}`],
    ['answer', inShort(item)],
  ];
  if (answer !== undefined) {
    fields.push(['robots', printable(answer.finalUrl)], ['fetched', ago(answer.fetchedAt, now)]);
    fields.push(['stale', answer.staleAt <= now ? ago(answer.staleAt, now) : ahead(answer.staleAt, now)]);
  }
  if (failure !== undefined)
    fields.push(['failing', `since ${ago(failure.since, now)}, next try ${ahead(failure.retryAt, now)}`]);
  fields.push(['kept', `for ${duration(item.expiresAt - now)}`]);
  const heading = colours.strong(printable(item.origin));
  const file =
    copy === undefined
      ? []
      : textOf(copy.body)
          .split('\n')
          .map((line) => `  | ${printable(line)}`);
  return `${[heading, ...definitions(fields, width, colours.faint), ...file].join('\n')}\n`;
}

function inShort({ record, rejected }: StoredItem): string {
  if (record === undefined) return `rejected: ${rejected ?? 'damaged'}`;
  const { answer, failure } = record;
  const said = answer === undefined ? [] : [`${answer.kind} (${answer.status})`];
  const failing = failure === undefined ? [] : [`failing (${failure.status ?? printable(failure.error)})`];
  return [...said, ...failing].join(', ') || 'site signal only';
}

const textOf = (body: Uint8Array): string => new TextDecoder().decode(body);
