import type { Copy, OriginRecord } from '../../../core/lifecycle/index.ts';
import {
  ago,
  ahead,
  count,
  definitions,
  duration,
  grid,
  jsonLine,
  printable,
} from '../../answers/text/index.ts';
import type { StoredLine } from '../../answers/schema.ts';
import type { Layout } from '../frame/settings.ts';
import type { StoredItem } from './command-store.ts';

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

export function renderTable(rows: readonly (readonly string[])[], { colours }: Layout): string {
  const head = ['origin', 'agent', 'answer', 'file', 'fetched', 'kept for'];
  return `${grid([head, ...rows], colours.strong).join('\n')}\n`;
}

/** Renders the record of an origin for people, with the file below it. */
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
