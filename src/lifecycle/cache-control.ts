/**
 * The directives of a `Cache-Control` field by lower-cased name. A directive without a value has the empty text. The
 * time is linear in the length of the field.
 *
 * RFC 9111 §4.2.1: "When there is more than one value present for a given directive […], either the first occurrence
 * should be used or the response should be considered stale." The first is used.
 */
export function cacheDirectives(field: string): ReadonlyMap<string, string> {
  const directives = new Map<string, string>();
  for (let start = 0; start < field.length;) {
    const end = memberEnd(field, start);
    const member = field.slice(start, end);
    const equals = member.indexOf('=');
    const name = (equals === -1 ? member : member.slice(0, equals)).trim().toLowerCase();
    const value = equals === -1 ? '' : unquoted(member.slice(equals + 1).trim());
    if (name !== '' && !directives.has(name)) directives.set(name, value);
    start = end + 1;
  }
  return directives;
}

/** Index of the next comma outside quotes. An unclosed quote runs to the end of the field. */
function memberEnd(field: string, start: number): number {
  let quoted = false;
  // Stryker disable next-line EqualityOperator: equivalent, for there is no character behind the last.
  for (let index = start; index < field.length; index++) {
    const character = field[index];
    if (character === '"') quoted = !quoted;
    else if (character === '\\' && quoted) index++;
    else if (character === ',' && !quoted) return index;
  }
  return field.length;
}

/** RFC 9111 §5.2: "Recipients ought to accept both forms", that is `max-age=5` and `max-age="5"`. */
function unquoted(value: string): string {
  const isQuoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"');
  return isQuoted ? value.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : value;
}
