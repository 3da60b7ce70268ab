import type { DialectTraits } from '../dialect.ts';
import { DOLLAR, PERCENT, SLASH, utf8 } from '../octets.ts';
import { LITERAL_PERCENT } from './normal-form.ts';
import { SHAPE, SHAPE_PLAIN } from './pattern.ts';
import { addRule, forms, startTable } from './rule-table.ts';
import { type Selection, selectRules } from './select.ts';

const INDEX_HTM = utf8.encode('/index.htm');

/**
 * Reads the rules of `agent` (octets, lower case) into the table. If a target is given, skips rules that cannot fit it:
 * the octets before the first wildcard or escape exclude most rules.
 */
export function readRules(
  bytes: Uint8Array,
  groups: readonly number[],
  agent: Uint8Array,
  traits: DialectTraits,
  target?: Uint8Array,
  targetStart = 0,
  targetEnd = 0,
): Selection {
  const shape = SHAPE[traits.escapes];
  startTable(bytes, traits);
  return selectRules(bytes, groups, agent, traits, (start, end, allow) => {
    if (target === undefined || mayFit(bytes, start, end, target, targetStart, targetEnd, shape)) {
      addRule(bytes, start, end, start, end - start, allow, traits);
      if (forms.stray >= 0) {
        // A stray `%` of a pattern matches any `%` of a target. Targets have two octets for it, so add an entry for each.
        forms.strayOctet = LITERAL_PERCENT;
        addRule(bytes, start, end, start, end - start, allow, traits);
        forms.strayOctet = PERCENT;
      }
    }
    if (traits.indexHtmlAllowsDirectory && allow) addDirectory(bytes, start, end, traits);
  });
}

/** google/robotstxt: "'index.htm' and 'index.html' are normalized to '/'", for allow rules. */
function addDirectory(bytes: Uint8Array, start: number, end: number, traits: DialectTraits): void {
  const slash = bytes.lastIndexOf(SLASH, end - 1);
  if (slash < start || end - slash < INDEX_HTM.length) return;
  for (let at = 0; at < INDEX_HTM.length; at++) if (bytes[slash + at] !== INDEX_HTM[at]) return;
  const pattern = new Uint8Array(bytes.subarray(start, slash + 2));
  pattern[slash + 1 - start] = DOLLAR;
  addRule(pattern, 0, pattern.length, start, end - start, true, traits);
}

function mayFit(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetStart: number,
  targetEnd: number,
  shape: Uint8Array,
): boolean {
  const room = Math.min(end, start + targetEnd - targetStart);
  const shift = targetStart - start;
  for (let at = start; at < room; at++) {
    const octet = bytes[at]!;
    if (octet !== target[at + shift])
      return shape[octet] !== SHAPE_PLAIN || (octet === DOLLAR && at === end - 1);
    if (shape[octet] !== SHAPE_PLAIN) return true;
  }
  return room === end || shape[bytes[room]!] !== SHAPE_PLAIN || bytes[end - 1] === DOLLAR;
}
