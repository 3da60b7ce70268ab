import type { DecisionEntry } from '../../evidence/entry.ts';
import type { ReplayDifference, ReplayedDecision, ReplayReport } from '../../evidence/replay.ts';
import { count, instant, type Palette, printable, ruleText } from '../../report/text/index.ts';

const FAULTS: Readonly<Record<Extract<ReplayDifference, { kind: 'entry' }>['fault'], string>> = {
  'missing-lines': 'lines before it are missing',
  'unknown-profile': 'it names a profile that is nowhere described',
  'missing-body': 'the octets of its digest are nowhere before it',
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
