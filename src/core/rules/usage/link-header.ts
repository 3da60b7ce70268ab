/** A link of a `Link` header field (RFC 8288 §3), reduced to what licences need. */
export interface Link {
  /** The URI reference between `<` and `>`, as written. */
  readonly target: string;
  /** The relation types of `rel`, in lower case. */
  readonly relations: readonly string[];
  /** The media type of `type`, in lower case. */
  readonly type?: string;
}

const WHITE_SPACE = /[ \t]*/y;
const TARGET = /<([^>]*)>/y;
const NAME = /[!#$&+\-.^_`|~\w]+\*?/y;
const TOKEN_VALUE = /[^\s",;]*/y;
const QUOTED_VALUE = /"((?:[^"\\]|\\.)*)"/y;
const UNTIL_COMMA = /[^,]*/y;

/**
 * The links of a `Link` header field, parsed by RFC 8288 appendix B.2. Unreadable text is skipped up to the next
 * comma. Of a repeated parameter the first counts (§3.3, §3.4.1).
 */
export function parseLinks(field: string): readonly Link[] {
  const links: Link[] = [];
  let at = 0;
  // No target ends after this. To search for an end after each "<" would take quadratic time.
  const lastTargetEnd = field.lastIndexOf('>');
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(field);
    if (match !== null) at += match[0].length;
    return match;
  };
  while (at < field.length) {
    take(WHITE_SPACE);
    const target = at < lastTargetEnd ? take(TARGET)?.[1] : undefined;
    if (target !== undefined) {
      const parameters = new Map<string, string>();
      for (take(WHITE_SPACE); field[at] === ';'; take(WHITE_SPACE)) {
        at++;
        take(WHITE_SPACE);
        const name = take(NAME)?.[0].toLowerCase();
        take(WHITE_SPACE);
        let value = '';
        if (field[at] === '=') {
          at++;
          take(WHITE_SPACE);
          value = take(QUOTED_VALUE)?.[1]?.replaceAll(/\\(.)/g, '$1') ?? take(TOKEN_VALUE)?.[0] ?? '';
        }
        if (name !== undefined && !parameters.has(name)) parameters.set(name, value.toLowerCase());
      }
      const type = parameters.get('type');
      const relations = (parameters.get('rel') ?? '').split(/[ \t]+/).filter((each) => each !== '');
      links.push({ target, relations, ...(type !== undefined && { type }) });
    }
    take(UNTIL_COMMA);
    at++;
  }
  return links;
}
