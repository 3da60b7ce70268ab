import type { DialectTraits } from '../dialect.ts';
import { LINE_ALLOW } from '../line-cursor.ts';
import { DOLLAR, SLASH, utf8 } from '../octets.ts';
import { RuleCursor } from './rule-cursor.ts';
import { addRule, startTable } from './rule-table.ts';
import { type Selection, selectRules } from './select.ts';

const INDEX_HTM = utf8.encode('/index.htm');

/**
 * Reads the rules of `agent` (octets, lower case) into the table. With a target, rules that cannot fit it may be left
 * out: the octets before the first wildcard or escape exclude most.
 */
export function readRules(
  bytes: Uint8Array,
  agent: Uint8Array,
  traits: DialectTraits,
  target?: Uint8Array,
  targetEnd = 0,
): Selection {
  const cursor = new RuleCursor(bytes, traits, target, targetEnd);
  startTable(bytes, traits);
  return selectRules(
    cursor,
    agent,
    traits,
    () => addRuleAt(cursor, traits),
    () => startTable(bytes, traits),
  );
}

/** Adds the rule of the current line. */
export function addRuleAt(
  { bytes, valueStart, valueEnd, kind, line }: RuleCursor,
  traits: DialectTraits,
): void {
  const allow = kind === LINE_ALLOW;
  const written = valueEnd - valueStart;
  addRule(bytes, valueStart, valueEnd, valueStart, written, line, allow, traits);
  if (!allow || !traits.indexHtmlAllowsDirectory) return;
  // google/robotstxt: "'index.htm' and 'index.html' are normalized to '/'", for allow rules.
  let slash = valueEnd - 1;
  while (slash >= valueStart && bytes[slash] !== SLASH) slash--;
  if (slash < valueStart || valueEnd - slash < INDEX_HTM.length) return;
  for (let at = 0; at < INDEX_HTM.length; at++) if (bytes[slash + at] !== INDEX_HTM[at]) return;
  const pattern = new Uint8Array(bytes.subarray(valueStart, slash + 2));
  pattern[slash + 1 - valueStart] = DOLLAR;
  addRule(pattern, 0, pattern.length, valueStart, written, line, true, traits);
}
