import { BYTE_MASK } from '../../url/index.ts';
import type { DialectTraits } from '../dialect.ts';
import { HEX, PERCENT, QUESTION } from '../octets.ts';
import { NO_QUERY, NO_STRAY, octetOf, PLAIN, pushEscaped, pushRaw, NormalForm } from './normal-form.ts';

/** Targets are read into this one, call after call: nothing here is asynchronous. */
const forms = new NormalForm();

/**
 * Target → normal form. RFC 9309 §2.2.2: octets "outside the range of the ASCII coded character set, and those
 * in the reserved range defined by RFC3986, MUST be percent-encoded … prior to comparison. If a percent-encoded
 * ASCII octet is encountered in the URI, it MUST be unencoded prior to comparison, unless it is a reserved
 * character".
 *
 * The result is good until the next target is read.
 *
 * NOTE(rfc9309): encoding every reserved octet would encode "/" and "?" too, which no table of the RFC does.
 * Its table does it for `:` and `/` in a query; there the two forms are taken as equal.
 */
export function readTarget(text: string, start: number, end: number, traits: DialectTraits): NormalForm {
  const into = forms;
  into.reserve(end - start);
  const octets = into.octets;
  const plain = PLAIN[traits.escapes];
  let length = 0;
  let byteMask = 0;
  let query = NO_QUERY;
  let at = start;
  for (; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f || plain[unit] === 0) break;
    if (unit === QUESTION && query === NO_QUERY) {
      if (!traits.targetHasQuery) {
        end = at;
        break;
      }
      query = length;
    }
    octets[length++] = unit;
    byteMask |= BYTE_MASK[unit]!;
  }
  into.length = length;
  into.byteMask = byteMask;
  into.query = query;
  into.stray = NO_STRAY;
  if (at < end) readRest(text, at, end, traits, into);
  return into;
}

/** What `readTarget` does from the first character that is not its own normal form. */
function readRest(text: string, at: number, end: number, traits: DialectTraits, into: NormalForm): void {
  const google = traits.escapes === 'google';
  for (; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f) {
      const point = text.codePointAt(at)!;
      if (point > 0xffff) at++;
      pushUtf8(into, point >= 0xd800 && point <= 0xdfff ? 0xfffd : point, traits);
    } else if (google) into.push(unit);
    else if (unit === PERCENT) {
      const octet = escapeAt(text, at, end);
      if (octet >= 0) at += 2;
      pushEscaped(into, octet, traits, into.query !== NO_QUERY);
    } else {
      if (unit === QUESTION && into.query === NO_QUERY) {
        if (!traits.targetHasQuery) return;
        into.query = into.length;
      }
      pushRaw(into, unit, traits);
    }
  }
}

function pushUtf8(into: NormalForm, point: number, traits: DialectTraits): void {
  const lead = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  const push = (octet: number): void => {
    if (traits.escapes === 'rfc9309') into.pushEscape(octet);
    else into.push(octet);
  };
  push([0, 0xc0, 0xe0, 0xf0][lead]! | (point >> (6 * lead)));
  for (let rest = lead - 1; rest >= 0; rest--) push(0x80 | ((point >> (6 * rest)) & 0x3f));
}

function escapeAt(text: string, at: number, end: number): number {
  if (at + 2 >= end) return -1;
  const high = text.charCodeAt(at + 1);
  const low = text.charCodeAt(at + 2);
  return high > 0x7f || low > 0x7f ? -1 : octetOf(HEX[high]!, HEX[low]!);
}
