import { BYTE_MASK } from '../../url/index.ts';
import type { DialectTraits } from '../dialect.ts';
import { PERCENT, QUESTION, utf8 } from '../bytes.ts';
import {
  escapeAt,
  NO_QUERY,
  NO_BARE_PERCENT,
  NormalForm,
  PLAIN,
  pushEscaped,
  pushRaw,
} from './normal-form.ts';

/** All targets are read into this one buffer. That is safe, because matching is synchronous. */
const forms = new NormalForm();

/**
 * Converts a target to its normal form. RFC 9309 §2.2.2: octets "outside the range of the ASCII coded character set,
 * and those in the reserved range defined by RFC3986, MUST be percent-encoded … prior to comparison. If a
 * percent-encoded ASCII byte is encountered in the URI, it MUST be unencoded prior to comparison, unless it is a
 * reserved character".
 *
 * The result is valid until the next target is read.
 *
 * NOTE(rfc9309): encoding every reserved octet would encode "/" and "?" too, which no table of the RFC does. Its table
 * encodes `:` and `/` in a query, so raw and encoded forms are equal there.
 */
export function readTarget(text: string, start: number, end: number, traits: DialectTraits): NormalForm {
  const into = forms;
  into.reserve(end - start);
  const bytes = into.bytes;
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
    bytes[length++] = unit;
    byteMask |= BYTE_MASK[unit]!;
  }
  into.length = length;
  into.byteMask = byteMask;
  into.query = query;
  into.bareAt = NO_BARE_PERCENT;
  if (at < end) readRest(utf8.encode(text.slice(at, end)), traits, into);
  return into;
}

/** Continues `readTarget` from the first character that is not its own normal form. */
function readRest(rest: Uint8Array, traits: DialectTraits, into: NormalForm): void {
  for (let at = 0; at < rest.length; at++) {
    const byte = rest[at]!;
    if (traits.escapes === 'google') into.push(byte);
    else if (byte === PERCENT) {
      const escaped = escapeAt(rest, at, rest.length);
      if (escaped >= 0) at += 2;
      pushEscaped(into, escaped, traits, into.query !== NO_QUERY);
    } else {
      if (byte === QUESTION && into.query === NO_QUERY) {
        if (!traits.targetHasQuery) return;
        into.query = into.length;
      }
      pushRaw(into, byte, traits);
    }
  }
}
