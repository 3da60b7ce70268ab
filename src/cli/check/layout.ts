import { isUndecided, isUnwanted, type ReportedDecision } from '../../report/index.ts';
import { count, reasonText, renderRecord } from '../../report/text/index.ts';
import { exitCode } from '../frame/exit-code.ts';
import type { Kind, ListLayout } from '../frame/list-report.ts';

const kinds = {
  allowed: { label: 'ALLOWED', style: 'good', code: exitCode.success },
  disallowed: { label: 'DISALLOWED', style: 'bad', code: exitCode.negative, counted: 'disallowed' },
  /** Allowed, but not wanted for the purpose. */
  unwanted: { label: 'NOT WANTED', style: 'bad', code: exitCode.negative, counted: 'not wanted' },
  undecided: { label: 'UNDECIDED', style: 'unsure', code: exitCode.undecided, counted: 'undecided' },
} as const satisfies Readonly<Record<string, Kind>>;

export function kindOf(decision: ReportedDecision): Kind {
  if (isUndecided(decision)) return kinds.undecided;
  if (isUnwanted(decision)) return kinds.unwanted;
  return decision.allowed ? kinds.allowed : kinds.disallowed;
}

/** A line for each URL: the verdict, the URL and the reason. */
export const checkLayout: ListLayout<ReportedDecision> = {
  kinds: Object.values(kinds),
  kindOf,
  subjectOf: ({ url }) => url,
  reasonOf: reasonText,
  record: renderRecord,
  total: (decided, invalid) => count(decided + invalid, 'URL'),
};
