import type { DecisionEntry, AttemptEntry, EvidenceEntry } from '../../../core/client/evidence/entry.ts';
import type {
  ReplayDifference,
  ReplayedDecision,
  ReplayReport,
  Bodies,
  ReplayedLine,
} from '../../../extras/evidence/replay.ts';
import { count, instant, type Palette, printable, ruleText, jsonLine } from '../../answers/text/index.ts';
import type { AskedLine } from '../../answers/schema.ts';
import type { LocatedUrl } from '../../../core/url/index.ts';

const FAULTS: Readonly<Record<Extract<ReplayDifference, { kind: 'entry' }>['fault'], string>> = {
  'missing-lines': 'lines before it are missing',
  'unknown-profile': 'it names a profile that is nowhere described',
  'missing-body': 'the bytes of its digest are nowhere before it',
  'impossible-times': 'no jitter makes its times out of its answer',
};

/** A decision that comes out otherwise, or an entry that cannot be what happened. */
export function renderDifference(file: string, difference: ReplayDifference, colours: Palette): string {
  const where = `${printable(file)}, line ${difference.line}, ${instant(difference.at)}`;
  if (difference.kind === 'entry') {
    const origin = difference.origin === undefined ? '' : `${printable(difference.origin)}: `;
    return `${colours.bad('DOES NOT FIT')}  ${where}\n  ${origin}${FAULTS[difference.fault]}\n`;
  }
  const { recorded, replayed } = difference;
  const label = replayed?.allowed === recorded.allowed ? 'OTHER REASON' : 'OTHERWISE';
  const again = replayed === undefined ? 'not: what it rests on is missing' : decisionText(replayed, colours);
  return `${colours.unsure(label)}  ${printable(difference.url)}  ${where}
  recorded  ${decisionText(recorded, colours)}
  replayed  ${again}\n`;
}

/** What was decided for whom, and why, in a line. */
export function decisionText(decision: ReplayedDecision | DecisionEntry, colours: Palette): string {
  const { agent, profile, allowed, sha256 } = decision;
  const label = allowed ? colours.good('ALLOWED') : colours.bad('DISALLOWED');
  const digest = sha256 === undefined ? '' : `, sha256 ${sha256.slice(0, 12)}…`;
  return `${label} for ${printable(agent)} under ${printable(profile)}: ${whyText(decision)}${digest}`;
}

function whyText({ reason, state, rule }: ReplayedDecision | DecisionEntry): string {
  if (rule !== undefined) return `${ruleText(rule)}${state === 'last-good' ? ' (last good copy)' : ''}`;
  switch (reason) {
    case 'rule':
      return 'a rule';
    case 'no-rule':
      return 'no rule matches';
    case 'no-group':
      return 'no group is for the agent';
    case 'robots-txt':
      return '/robots.txt itself may always be fetched';
    case 'unavailable':
      return 'there is no robots.txt';
    case 'unreachable':
      return 'robots.txt is unreachable';
    case 'unreachable-expired':
      return 'robots.txt has been unreachable for so long that it counts as absent';
    case 'restricted':
      return 'access to robots.txt is restricted';
    case 'override':
      return "by the caller's own text or verdict";
  }
}

/** The last line. */
export function renderReport(report: ReplayReport, isOtherwise: boolean): string {
  const { decisions, runs, flipped, changed, faults } = report;
  const of = `${count(decisions, 'decision')} of ${count(runs, 'run')}`;
  const fits =
    faults === 0 ? '' : `; ${count(faults, 'entry').replace(/entrys$/, 'entries')} cannot be what happened`;
  if (changed === 0) return `${of}: all come out as recorded${fits}\n`;
  const flips = `${flipped.toLocaleString('en')} ${isOtherwise ? 'would be decided' : 'come out'} otherwise`;
  return `${of}: ${flips}, ${(changed - flipped).toLocaleString('en')} for another reason${fits}\n`;
}

/** An entry that brought what is known of the origin, and where it stands. */
interface Brought {
  readonly entry: Exclude<EvidenceEntry, DecisionEntry>;
  readonly file: string;
  readonly line: number;
}

interface Asked {
  readonly decision: DecisionEntry;
  readonly file: string;
  readonly line: number;
  readonly by: Brought | undefined;
  /** What brought the bytes that decided. */
  readonly bytes: Brought | undefined;
}

/** What was decided about one page, and by what. Only entries of its origin are kept. */
export class PageStory {
  readonly #url: string;
  readonly #origin: string;
  readonly #asked: Asked[] = [];
  readonly #ignored: Brought[] = [];
  /** By file, then by the number of the entry within its run. */
  readonly #brought = new Map<string, Map<number, Brought>>();
  readonly #latest = new Map<string, Brought>();
  /** What brought the bytes of a digest. */
  readonly #bringers = new Map<string, Brought>();

  constructor({ href, origin }: LocatedUrl) {
    this.#url = href;
    this.#origin = origin;
  }

  add(file: string, { entry, number, line }: ReplayedLine): void {
    if (entry.type === 'run') {
      this.#brought.delete(file);
      this.#latest.delete(file);
      return;
    }
    if (entry.origin !== this.#origin) return;
    const here = { file, line };
    if (entry.type === 'decision') {
      if (entry.url !== this.#url) return;
      const by = entry.by === undefined ? this.#latest.get(file) : this.#brought.get(file)?.get(entry.by);
      const bytes = entry.sha256 === undefined ? undefined : this.#bringers.get(entry.sha256);
      this.#asked.push({ decision: entry, ...here, by, bytes });
    } else if (entry.type === 'ignored') {
      if (entry.url === this.#url) this.#ignored.push({ entry, ...here });
    } else if (entry.type === 'robots' || entry.type === 'stored') {
      this.#bring(number, { entry, ...here });
    } else if (entry.type === 'signal') {
      // What is known since rests on the same answer.
      const latest = this.#latest.get(file);
      if (latest !== undefined) this.#bring(number, latest);
    }
  }

  json(): string {
    return this.#asked
      .map(({ decision, file, line, by, bytes }) =>
        jsonLine<AskedLine>({
          kind: 'asked',
          file,
          line,
          decision,
          answer: plain(by),
          bytes: plain(bytes),
        }),
      )
      .join('');
  }

  text(bodies: Bodies, colours: Palette): string {
    const lines = [`${printable(this.#url)}: ${askedText(this.#asked.length)}`];
    for (const { decision, file, line, by, bytes } of this.#asked) {
      lines.push('', `${instant(decision.at)}  ${decisionText(decision, colours)}`);
      const { sha256, requested, because, usage } = decision;
      if (requested !== undefined)
        lines.push(`  asked for as ${printable(requested)}, which redirected here`);
      if (because !== undefined) lines.push(`  because: ${printable(because)}`);
      if (usage?.preference !== undefined && usage.purpose !== undefined)
        lines.push(`  for the purpose ${usage.purpose}: ${usage.preference}`);
      if (by !== undefined) lines.push(`  by ${broughtText(by)}`);
      if (sha256 !== undefined) {
        const size = bodies.get(sha256)?.length;
        const of = size === undefined ? 'bytes that are not in the evidence' : count(size, 'byte');
        const from = bytes === undefined || bytes === by ? '' : `, from ${broughtText(bytes)}`;
        lines.push(`  robots.txt had ${of}, sha256 ${sha256}${from}`);
      }
      lines.push(`  written in ${printable(file)}, line ${line}`);
    }
    for (const { entry, file, line } of this.#ignored) {
      const because = entry.type === 'ignored' ? printable(entry.because) : '';
      lines.push('', `${instant(entry.at)}  REQUESTED WITHOUT A QUESTION, because: ${because}`);
      lines.push(`  written in ${printable(file)}, line ${line}`);
    }
    return `${lines.join('\n')}\n`;
  }

  #bring(number: number, brought: Brought): void {
    const { file, entry } = brought;
    let ofRun = this.#brought.get(file);
    if (ofRun === undefined) this.#brought.set(file, (ofRun = new Map()));
    ofRun.set(number, brought);
    this.#latest.set(file, brought);
    if ('sha256' in entry && entry.sha256 !== undefined && !isRevalidation(entry)) {
      this.#bringers.set(entry.sha256, brought);
    }
  }
}

/** A 304 names the bytes that were there before. */
function isRevalidation(entry: EvidenceEntry): boolean {
  return entry.type === 'robots' && 'outcome' in entry && entry.outcome === 'not-modified';
}

/** The entry without its bytes. */
function plain(brought: Brought | undefined): object | undefined {
  if (brought === undefined) return undefined;
  const { file, line, entry } = brought;
  const { body: _, ...written } = { body: undefined, ...entry };
  return { file, line, ...written };
}

function askedText(many: number): string {
  return many === 0 ? 'never asked' : many === 1 ? 'asked once' : `asked ${many.toLocaleString('en')} times`;
}

function broughtText({ entry, file, line }: Brought): string {
  const where = `${printable(file)}, line ${line}`;
  if (entry.type === 'stored') return `a record of the store or a snapshot (${where})`;
  if (entry.type !== 'robots') return where;
  if (!('outcome' in entry)) return `the option \`overrides\` of the crawler (${where})`;
  return `${answerText(entry)}, ${instant(entry.at)} (${where})`;
}

function answerText({ outcome, hops, error, staleAt, retryAt }: AttemptEntry): string {
  const requests = hops.map(({ url, status }) => `${printable(url)} → ${status ?? error ?? 'no answer'}`);
  const until =
    staleAt !== undefined
      ? `, good until ${instant(staleAt)}`
      : retryAt !== undefined
        ? `, asked again from ${instant(retryAt)} on`
        : '';
  return `the answer ${requests.join(', ')} (${outcome}${until})`;
}
