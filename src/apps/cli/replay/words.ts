import { printable } from '../../../core/base/index.ts';
import { type DecisionUsage, reasons } from '../../../core/decision/index.ts';
import { delayName } from '../../../core/pacing/index.ts';
import type { DecisionEntry } from '../../../core/client/evidence/entry.ts';
import type { ReplayedAgain } from '../../../extras/evidence/recorded-run.ts';
import type { ReplayedDecision } from '../../../extras/evidence/replay.ts';
import { type RequestOutcome, type RequestRow, wasSent } from '../../../extras/evidence/request-outcomes.ts';
import { instant, type Palette } from '../../answers/text/layout.ts';
import { purposeSentence, ruleText } from '../../answers/text/sentences.ts';
import { verdictKinds, verdictName } from '../../answers/verdict.ts';

/** What was decided for which agent, and why, in a line. */
export function decisionText(decision: ReplayedDecision, colours: Palette): string {
  const { agent, profile, sha256, usage } = decision;
  const { label, tone } = verdictKinds[verdictName(decision)];
  const digest = sha256 === undefined ? '' : `, sha256 ${sha256.slice(0, 12)}…`;
  const purpose = usage === undefined ? '' : `; ${purposeSentence(usage)}`;
  return `${colours[tone](label)} for ${printable(agent)} under ${printable(profile)}: ${whyText(decision)}${purpose}${digest}`;
}

/** Why, with the status or the error that decided. */
export function whyText(
  { reason, state, rule }: ReplayedDecision | DecisionEntry,
  again?: ReplayedAgain,
): string {
  if (rule !== undefined) return withCopy(ruleText(rule), state);
  const cause = causeIn(again?.decision.robots ?? {});
  const isByResponse = state === 'allow-all' || state === 'disallow-all';
  const { what } = reasons[reason];
  return withCopy(isByResponse && cause !== undefined ? `${what} (${cause})` : what, state);
}

/** The status that decided, or the error where none did. */
function causeIn({
  status,
  error,
}: Partial<ReplayedAgain['decision']['robots']>): string | number | undefined {
  return error === undefined || error === 'ERR_ROBOTS_STATUS' ? status : error;
}

function withCopy(why: string, state: ReplayedDecision['state']): string {
  return state === 'last-good' ? `${why} (last good copy)` : why;
}

/** Why a request without a decision was sent, and what the log says of its URL. */
export function whyUnchecked({ entry, again }: RequestRow): string {
  if (entry.type !== 'ignored') return 'the log has no decision for it';
  const because = `because: ${entry.because}`;
  return again?.decision.allowed === false
    ? `${because}; ${verdictKinds[verdictName(again.decision)].title.toLowerCase()}: ${whyText(again.decision, again)}`
    : because;
}

/** Why the request of a row was refused, or sent without a check. */
export function whyOf(row: RequestRow): string {
  const { entry, again } = row;
  if (entry.type !== 'decision') return whyUnchecked(row);
  return entry.allowed && entry.usage !== undefined ? purposeSentence(entry.usage) : whyText(entry, again);
}

/** draft-ietf-aipref-attach: "no preferences are implied for resources that are disallowed". */
export function preferenceText(usage: DecisionUsage | undefined, allowed: boolean | undefined): string {
  if (usage === undefined) return '';
  return allowed === false && usage.source === undefined
    ? `${usage.purpose}: no preference is implied for a disallowed page`
    : purposeSentence(usage);
}

/** What became of a request, in words. */
export function outcomeText({ entry, outcome, cut }: RequestRow): string {
  if (outcome !== undefined) return entryText(outcome, cut?.error);
  switch (entry.type) {
    case 'request':
    case 'deferred':
      return entryText(entry, cut?.error);
    case 'cut':
      return `${entry.status}, body cut: ${printable(entry.error)}`;
    case 'ignored':
      return 'no request in the log';
    case 'decision':
      if (entry.lookup === true) return 'a link, looked up';
      return entry.refused === true ? 'not requested: refused' : 'no request in the log';
  }
}

function entryText(entry: RequestOutcome, cutBy: string | undefined): string {
  if (entry.type === 'deferred')
    return `deferred until ${instant(entry.retryAt)} (${printable(delayName(entry.delayFrom))})`;
  const { startedAt, status, error, refused } = entry;
  if (!wasSent(entry)) return `not requested: its address was refused (${error})`;
  const parts = [
    `requested at ${new Date(startedAt).toISOString()}`,
    status === undefined ? `failed: ${printable(error ?? 'no response')}` : String(status),
    ...(refused === undefined ? [] : [`refused by its header fields (${refused})`]),
    ...(cutBy === undefined ? [] : [`body cut: ${printable(cutBy)}`]),
  ];
  return parts.join(', ');
}
