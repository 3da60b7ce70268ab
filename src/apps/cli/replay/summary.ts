import { jsonLine, printable } from '../../../core/base/index.ts';
import { agentTokens } from '../../../core/decision/agent-tokens.ts';
import type { ReplayedLine } from '../../../extras/evidence/replay.ts';
import {
  refusalOf,
  RequestOutcomes,
  type RequestRow,
  sentBy,
} from '../../../extras/evidence/request-outcomes.ts';
import type { SummaryLine } from '../../answers/schema/lines.ts';
import { grid } from '../../answers/text/layout.ts';
import { csvLine } from './decision-list.ts';

type Counts = Omit<SummaryLine, 'schemaVersion' | 'kind' | 'agent' | 'origin'>;

const COLUMNS: Readonly<Record<keyof Counts, string>> = {
  allowed: 'allowed',
  refused: 'refused',
  notWanted: 'not wanted',
  deferred: 'deferred',
  requested: 'requested',
  requestedAlthoughRefused: 'although refused',
};

/** Counts what was decided and what became of it, by agent and origin. */
export class Summary {
  readonly #outcomes = new RequestOutcomes();
  readonly #rows = new Map<string, { agent: string; origin: string; counts: Record<keyof Counts, number> }>();
  /** For requests without a decision. */
  readonly #agents = new Map<string, string>();

  add(file: string, line: ReplayedLine): void {
    const { entry } = line;
    if (entry.type === 'run') this.#agents.set(entry.run, agentTokens(entry.agent)[0]);
    const { done } = this.#outcomes.add(file, line);
    if (done !== undefined) this.#count(done);
  }

  /** The lines, by agent and origin. */
  text(format: 'text' | 'json' | 'csv'): string {
    for (const row of this.#outcomes.finish()) this.#count(row);
    const rows = [...this.#rows.values()].sort(
      (one, other) => compare(one.agent, other.agent) || compare(one.origin, other.origin),
    );
    if (format === 'json') {
      return rows
        .map(({ agent, origin, counts }) =>
          jsonLine<SummaryLine>({ kind: 'summary', agent, origin, ...counts }),
        )
        .join('');
    }
    const table = [
      ['agent', 'origin', ...Object.values(COLUMNS)],
      ...rows.map(({ agent, origin, counts }) => [agent, origin, ...Object.values(counts)].map(cellText)),
    ];
    return format === 'csv'
      ? table.map(csvLine).join('')
      : grid(table)
          .map((line) => `${line.trim()}\n`)
          .join('');
  }

  #count(row: RequestRow): void {
    const { entry, outcome } = row;
    const counts = this.#countsOf(row);
    if (entry.type === 'decision' && entry.lookup !== true) {
      const refusal = refusalOf(row);
      counts[refusal === undefined ? 'allowed' : refusal === 'disallowed' ? 'refused' : 'notWanted']++;
    }
    if (entry.type === 'deferred' || outcome?.type === 'deferred') counts.deferred++;
    if (sentBy(row) === undefined) return;
    counts.requested++;
    if (refusalOf(row) !== undefined) counts.requestedAlthoughRefused++;
  }

  #countsOf({ entry }: RequestRow): Record<keyof Counts, number> {
    const { origin, run } = entry;
    const agent = entry.type === 'decision' ? entry.agent : (this.#agents.get(run) ?? '');
    const key = `${agent} ${origin}`;
    const known = this.#rows.get(key);
    if (known !== undefined) return known.counts;
    const counts = {
      allowed: 0,
      refused: 0,
      notWanted: 0,
      deferred: 0,
      requested: 0,
      requestedAlthoughRefused: 0,
    };
    this.#rows.set(key, { agent, origin, counts });
    return counts;
  }
}

function cellText(cell: string | number): string {
  return typeof cell === 'number' ? String(cell) : printable(cell);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
