import type {
  AttemptEntry,
  DecisionEntry,
  DeferredEntry,
  EvidenceLine,
  IgnoredEntry,
  RequestEntry,
} from '../../../core/client/evidence/entry.ts';
import type { Bodies } from '../../../extras/evidence/recorded-run.ts';
import type { ReplayedDecision, ReplayedLine } from '../../../extras/evidence/replay.ts';
import type { LocatedUrl } from '../../../core/url/index.ts';
import type { UrlHistoryLine } from '../../answers/schema.ts';
import { count, instant, type Palette } from '../../answers/text/layout.ts';
import { jsonLine, printable } from '../../../core/base/index.ts';
import { reasons } from '../../../core/decision/index.ts';
import { purposeSentence, ruleText } from '../../answers/text/sentences.ts';

/** An entry, and where it is. */
interface Source<Entry = EvidenceLine> {
  readonly entry: Entry;
  readonly file: string;
  readonly line: number;
}

/** What happened to a page: a decision, or what became of it. */
type Event = Source<DecisionEntry | RequestEntry | DeferredEntry | IgnoredEntry> & {
  /** The entry with the record that decided. */
  readonly source: Source | undefined;
  /** The entry with the bytes of the file that decided. */
  readonly body: Source | undefined;
};

/** What was decided about one page, by which file, and what became of it. Only entries of its origin are kept. */
export class UrlHistory {
  readonly #url: string;
  readonly #origin: string;
  readonly #events: Event[] = [];
  /** By run and number. */
  readonly #sources = new Map<string, Source>();
  /** By run. */
  readonly #latest = new Map<string, Source>();
  readonly #sourceByDigest = new Map<string, Source>();

  constructor({ href, origin }: LocatedUrl) {
    this.#url = href;
    this.#origin = origin;
  }

  add(file: string, { entry, line, isSelected }: ReplayedLine): void {
    if (entry.type === 'run' || entry.type === 'end' || entry.origin !== this.#origin) return;
    const here = { file, line };
    switch (entry.type) {
      case 'robots':
      case 'stored':
        this.#addSource({ entry, ...here });
        return;
      case 'signal': {
        // Later entries rest on the same response.
        const latest = this.#latest.get(entry.run);
        if (latest !== undefined) this.#sources.set(keyOf(entry), latest);
        return;
      }
      case 'decision':
      case 'request':
      case 'deferred':
      case 'ignored':
        if (entry.url !== this.#url || !isSelected) return;
        this.#events.push({ entry, ...here, ...this.#sourcesOf(entry) });
        return;
      default:
    }
  }

  json(): string {
    return this.#events
      .map(({ entry, file, line, source, body }) =>
        jsonLine<UrlHistoryLine>({
          kind: entry.type,
          file,
          line,
          entry,
          source: withoutBody(source),
          body: withoutBody(body),
        }),
      )
      .join('');
  }

  text(bodies: Bodies, colours: Palette): string {
    const decisions = this.#events.filter(({ entry }) => entry.type === 'decision').length;
    const lines = [`${printable(this.#url)}: ${decidedText(decisions)}`];
    for (const event of this.#events) {
      const { entry, file, line } = event;
      lines.push('', `${instant(entry.at)}  ${eventText(entry, colours)}`);
      if (entry.type === 'decision') lines.push(...decisionDetails(entry, event, bodies));
      lines.push(`  written in ${printable(file)}, line ${line}`);
    }
    return `${lines.join('\n')}\n`;
  }

  #addSource(source: Source<Extract<EvidenceLine, { type: 'robots' | 'stored' }>>): void {
    const { entry } = source;
    this.#sources.set(keyOf(entry), source);
    this.#latest.set(entry.run, source);
    // A 304 names the bytes that were there before.
    const isRevalidation = 'outcome' in entry && entry.outcome === 'not-modified';
    if (entry.sha256 !== undefined && !isRevalidation) this.#sourceByDigest.set(entry.sha256, source);
  }

  #sourcesOf(entry: Event['entry']): Pick<Event, 'source' | 'body'> {
    if (entry.type !== 'decision') return { source: undefined, body: undefined };
    const { run, by, sha256 } = entry;
    return {
      source: this.#sources.get(`${run} ${by}`),
      body: sha256 === undefined ? undefined : this.#sourceByDigest.get(sha256),
    };
  }
}

function keyOf({ run, n }: { readonly run: string; readonly n: number }): string {
  return `${run} ${n}`;
}

/** The entry without its bytes. */
function withoutBody(source: Source | undefined): object | undefined {
  if (source === undefined) return undefined;
  const { file, line, entry } = source;
  const { body: _, ...written } = { body: undefined, ...entry };
  return { file, line, ...written };
}

function decidedText(many: number): string {
  return many === 0 ? 'no decision' : count(many, 'decision');
}

function eventText(entry: Event['entry'], colours: Palette): string {
  switch (entry.type) {
    case 'decision':
      return decisionText(entry, colours);
    case 'ignored':
      return `SENT UNCHECKED, because: ${printable(entry.because)}`;
    case 'deferred':
      return `DEFERRED to ${instant(entry.retryAt)}: ${printable(entry.delayFrom)}`;
    case 'request':
      return requestText(entry, colours);
  }
}

function requestText({ startedAt, status, error, refused }: RequestEntry, colours: Palette): string {
  const response = status ?? printable(error ?? 'no response');
  const sent = `REQUESTED at ${new Date(startedAt).toISOString()} → ${response}`;
  return refused === undefined
    ? sent
    : `${sent}, then ${colours.bad('REFUSED')} by its header fields (${refused})`;
}

function decisionDetails(
  { requested, because, sha256 }: DecisionEntry,
  { source, body }: Event,
  bodies: Bodies,
): string[] {
  const lines: string[] = [];
  if (requested !== undefined) lines.push(`  requested as ${printable(requested)}, which redirected here`);
  if (because !== undefined) lines.push(`  because: ${printable(because)}`);
  if (source !== undefined) lines.push(`  by ${sourceText(source)}`);
  if (sha256 === undefined) return lines;
  const size = bodies.get(sha256)?.length;
  const bytes = size === undefined ? 'bytes that are not in the evidence' : count(size, 'byte');
  const from = body === undefined || body === source ? '' : `, from ${sourceText(body)}`;
  return [...lines, `  robots.txt had ${bytes}, sha256 ${sha256}${from}`];
}

function sourceText({ entry, file, line }: Source): string {
  const where = `${printable(file)}, line ${line}`;
  if (entry.type === 'stored') {
    const from = entry.restated === true ? 'an earlier file of evidence' : 'the store or a snapshot';
    return `a record of ${from} (${where})`;
  }
  if (entry.type !== 'robots') return where;
  if (!('outcome' in entry)) return `the option \`overrides\` of the crawler (${where})`;
  return `${attemptText(entry)}, ${instant(entry.at)} (${where})`;
}

/** What was decided for which agent, and why, in a line. */
export function decisionText(decision: ReplayedDecision | DecisionEntry, colours: Palette): string {
  const { agent, profile, allowed, sha256, usage } = decision;
  const label = allowed ? colours.good('ALLOWED') : colours.bad('DISALLOWED');
  const digest = sha256 === undefined ? '' : `, sha256 ${sha256.slice(0, 12)}…`;
  const purpose = usage === undefined ? '' : `; ${purposeSentence(usage)}`;
  return `${label} for ${printable(agent)} under ${printable(profile)}: ${whyText(decision)}${purpose}${digest}`;
}

function whyText({ reason, state, rule }: ReplayedDecision | DecisionEntry): string {
  const why = rule === undefined ? reasons[reason].what : ruleText(rule);
  return state === 'last-good' ? `${why} (last good copy)` : why;
}

/** The outcome of an attempt, with its requests. */
function attemptText({ outcome, requests, error, record: { answer, failure } }: AttemptEntry): string {
  const sent = requests.map(({ url, status }) => `${printable(url)} → ${status ?? error ?? 'no response'}`);
  const until =
    failure !== undefined
      ? `, next attempt from ${instant(failure.retryAt)} on`
      : answer === undefined
        ? ''
        : `, valid until ${instant(answer.staleAt)}`;
  return `the response ${sent.join(', ')} (${outcome}${until})`;
}
