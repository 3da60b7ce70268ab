import { quote } from '../../base/index.ts';
import type { Diagnostic, DiagnosticCode } from './diagnostic.ts';
import { originOfDirective } from './known-directives.ts';

/** The text of a diagnostic. */
export interface DiagnosticDescription {
  /** The problem, in one sentence. */
  readonly message: string;
  /** The remedy. */
  readonly hint: string;
  /** Why it matters, from the documentation of its code. */
  readonly explanation: string;
}

interface Wording {
  readonly message: (diagnostic: Diagnostic) => string;
  readonly hint: (diagnostic: Diagnostic) => string;
  readonly explanation: string;
}

/**
 * Puts a diagnostic into words. What stands in the file is shown quoted, as JSON does it.
 *
 * @example
 * ```ts
 * import { describeDiagnostic } from 'canfetch';
 * import { lint, parseRobots } from 'canfetch/rules';
 *
 * for (const diagnostic of lint(parseRobots('User-agent: *\nDissalow: /private'))) {
 *   const { message, hint } = describeDiagnostic(diagnostic);
 *   console.log(`${diagnostic.line}:${diagnostic.column} ${message} ${hint}`);
 * }
 * // 2:1 "Dissalow" is read as "disallow". Write "disallow": other crawlers may pass over the line.
 * ```
 */
export function describeDiagnostic(diagnostic: Diagnostic): DiagnosticDescription {
  const { message, hint, explanation } = wordings[diagnostic.code];
  const more = diagnostic.omitted === undefined ? '' : ` (${diagnostic.omitted} more of this kind.)`;
  return { message: message(diagnostic) + more, hint: hint(diagnostic), explanation };
}

const agentOf = ({ agent }: Diagnostic): string => (agent === '*' ? 'all agents (`*`)' : quote(agent ?? ''));
const lineOf = ({ otherLine }: Diagnostic): string => `line ${otherLine ?? 0}`;

const wordings: Readonly<Record<DiagnosticCode, Wording>> = {
  'byte-order-mark': {
    message: () => 'The file starts with a UTF-8 byte order mark.',
    hint: () => 'Save the file without one.',
    explanation:
      'RFC 9309 files are UTF-8, where the mark has no use. Most crawlers skip it; one that does not loses the first line, which is usually the first `User-agent`.',
  },
  'utf-16': {
    message: ({ severity }) =>
      severity === 'error'
        ? 'The file is UTF-16, and is read as if it were not: no line of it makes sense.'
        : 'The file is UTF-16; it was transcoded before it was read.',
    hint: () => 'Save the file as UTF-8.',
    explanation:
      'RFC 9309 §2.3: the file MUST be "UTF-8 encoded". Google and most other crawlers do not transcode: to them every line is nonsense, so that everything is allowed.',
  },
  'invalid-utf-8': {
    message: () => 'From here the file is not UTF-8.',
    hint: () => 'Save the file as UTF-8, or write the bytes of paths as percent escapes.',
    explanation:
      'RFC 9309 §2.3 asks for UTF-8. Bytes are compared as they stand, so a path in another encoding matches only URLs escaped from the same encoding; crawlers that decode the file first match something else or nothing.',
  },
  'past-size-limit': {
    message: () =>
      'Crawlers may stop reading before the end of this line: it and all that follows may be lost.',
    hint: () => 'Shorten the file: merge rules with common prefixes, and drop rules that never decide.',
    explanation:
      'RFC 9309 §2.5: crawlers may impose a parsing limit, which "MUST be at least 500 kibibytes". Google, Yandex and canfetch stop there. Lost rules allow.',
  },
  'line-too-long': {
    message: ({ severity }) =>
      severity === 'error'
        ? 'The line is cut here: what follows does not count.'
        : 'Google cuts the line here: for it what follows does not count.',
    hint: () => 'Break the line into several, or shorten the pattern.',
    explanation:
      "Google's parser keeps the first 16,663 bytes of a line and uses the line so cut: a rule then matches more than was written.",
  },
  html: {
    message: () => 'This is HTML, not robots.txt.',
    hint: () => 'Serve the file itself as text/plain, or answer 404 if there is none.',
    explanation:
      'Servers often answer unknown paths with a page and status 200, and logins or blocks do the same. Crawlers then find no rules and take everything as allowed.',
  },
  'forgiven-key': {
    message: (diagnostic) => `${quote(diagnostic.text)} is read as "${diagnostic.meant ?? ''}".`,
    hint: ({ meant }) => `Write "${meant ?? ''}": other crawlers may pass over the line.`,
    explanation:
      "Google's parser accepts a few misspellings, and RFC 9309 lets others do so. Crawlers that do not lose the rule, or the whole group.",
  },
  'misspelt-key': {
    message: ({ text }) => `${quote(text)} is no directive: the line is passed over.`,
    hint: ({ meant }) => `Write "${meant ?? ''}", if that is what was meant.`,
    explanation:
      'Unknown lines are ignored, without any effect on the lines around them. A rule so lost allows; a `User-agent` so lost gives its rules to the agents before it.',
  },
  'missing-colon': {
    message: ({ meant, severity }) =>
      severity === 'error'
        ? `There is no colon behind the key, so that the line, probably "${meant ?? ''}", is passed over.`
        : `There is no colon behind the key; the line is read as "${meant ?? ''}" all the same.`,
    hint: () => 'Put a colon behind the key.',
    explanation:
      "Google's parser, and canfetch with it, forgives a missing colon if the line is exactly two words. Most crawlers do not.",
  },
  'unreadable-line': {
    message: ({ text }) => `${quote(text)} is no line of a robots.txt file; it is passed over.`,
    hint: () => 'Start the line with `#` if it is a comment.',
    explanation:
      'Lines are `key: value`, comments or empty. RFC 9309 §2.3.1.5: crawlers "MUST try to parse each line" and "MUST use the parseable rules".',
  },
  'control-byte': {
    message: ({ meant, severity }) => {
      if (meant === '') return 'The path of this `Allow` has a control character, so the rule is void.';
      return severity === 'error'
        ? 'A control character ends the value here: the rest of the line is ignored.'
        : 'This is a control character. RFC 9309 does not allow it in a value, and crawlers differ on it.';
    },
    hint: () => 'Remove it, or write it as a percent escape if it is part of the path.',
    explanation:
      'RFC 9309 §2.2 has no control characters in values. They come from editors and exports, mostly as NUL, and most editors do not show them. Without the rest of its path an `Allow` would allow more than was written, so it is void; other lines end at the character. Google ends the line at NUL, and takes all others as they are.',
  },
  'unsupported-directive': {
    message: ({ text }) => {
      const origin = originOfDirective(text);
      const known = origin === undefined ? 'is not known here' : `is ${origin}`;
      return `${quote(text)} is not part of RFC 9309: it neither allows nor disallows. It ${known}.`;
    },
    hint: ({ text }) =>
      originOfDirective(text) === undefined
        ? 'Check the spelling; remove the line if nobody reads it.'
        : 'Keep it only for the crawlers that obey it.',
    explanation:
      'RFC 9309 §2.2.4: "Crawlers MAY interpret other records that are not part of the robots.txt protocol", and their parsing "MUST NOT interfere with the parsing of explicitly defined records". Shown once for each directive.',
  },
  'invalid-crawl-delay': {
    message: ({ text }) => `${quote(text)} is no number of seconds: the delay is passed over.`,
    hint: () => 'Write seconds as a decimal number, such as `Crawl-delay: 10` or `Crawl-delay: 0.5`.',
    explanation:
      'A delay that cannot be read asks for nothing; some parsers even reject the whole file for it.',
  },
  'relative-sitemap': {
    message: ({ text }) => `The sitemap ${quote(text)} is not an absolute http or https URL.`,
    hint: () => 'Write the whole URL, with scheme and host.',
    explanation:
      'The sitemaps protocol asks for a full URL, and Google for a "fully qualified" one. Few crawlers resolve a relative one against the site.',
  },
  'record-outside-group': {
    message: ({ text }) =>
      `${quote(text)} stands outside any group: it is for nobody, and neither slows a crawler nor states a preference.`,
    hint: () => 'Put it below a `User-agent` line (`User-agent: *` for all that have no group of their own).',
    explanation:
      'Records such as `Crawl-delay`, `Content-Usage` and `Content-Signal` count for the user-agent lines directly above them. In front of the first one they count for no agent at all, not for all of them.',
  },
  'license-in-last-group': {
    message: (diagnostic) =>
      `This licence does not hold for everybody: it belongs to the group that starts on ${lineOf(diagnostic)}.`,
    hint: () => 'Put it in front of the first `User-agent` line if it is meant for all.',
    explanation:
      'RSL 1.0 scopes a `License` line by where it stands: inside a group it is for that group, and replaces the licences in front of all groups. A group ends only at the next `User-agent` line, so that a line at the end of the file is in the last group, whatever blank lines come between. The guide of RSL calls `License` a global directive, and its examples put it at the end of the file: there the two texts contradict each other. This package follows the specification (§4.4); in front of the first group both read the line alike.',
  },
  'agent-not-token': {
    message: ({ meant, severity, text }) => {
      if (severity === 'error')
        return `${quote(text)} names no agent: the group applies to nobody by this line.`;
      if (severity === 'info')
        return `${quote(text)} is no product token by RFC 9309; it is read as written.`;
      return `${quote(text)} is no product token by RFC 9309; it is read as "${meant ?? ''}".`;
    },
    hint: ({ severity }) =>
      severity === 'info'
        ? 'Write the name the way the crawler documents it; where its documentation has digits or dots, leave it.'
        : 'Write the product token alone, one for each line: no version, no URL, no list, no wildcard in a name.',
    explanation:
      'RFC 9309 §2.2.1: a product token "MUST contain only uppercase and lowercase letters ("a-z" and "A-Z"), underscores ("_"), and hyphens ("-")". A fifth of the names in real files are none. Google reads them up to the first other character: `MJ12bot` as `MJ`.',
  },
  'ignored-name': {
    message: (diagnostic) =>
      diagnostic.meant === ''
        ? `This line does not name ${agentOf(diagnostic)}: no name is read of it.`
        : `This line does not name ${agentOf(diagnostic)}: only ${quote(diagnostic.meant ?? '')} is read of it.`,
    hint: ({ agent }) => `Write a line of its own: \`User-agent: ${agent ?? ''}\`.`,
    explanation:
      'A user-agent line has one product token (RFC 9309 §2.2.1). What comes behind it is passed over, as Google does: of `A B`, `A; B` and a whole User-Agent string the first name counts, which in the strings of many crawlers is "Mozilla".',
  },
  'duplicate-group': {
    message: (diagnostic) =>
      `A group for ${agentOf(diagnostic)} came before (${lineOf(diagnostic)}): their rules are merged.`,
    hint: () => 'Write one group for each agent.',
    explanation:
      'RFC 9309 §2.2.1: "If there is more than one group matching the user-agent, the matching groups\' rules MUST be combined into one group". Some crawlers take only the first group, or only the last.',
  },
  'mixed-group': {
    message: (diagnostic) =>
      `The group that starts on ${lineOf(diagnostic)} is for all agents and for some by name: they share its rules.`,
    hint: () =>
      'If the names were meant to have rules of their own, or none, give them a group with a rule in it.',
    explanation:
      'User-agent lines without a rule between them form one group, whatever stands between: `User-agent: a`, an empty line, `User-agent: *`, `Disallow: /` disallows `a` too. It is right where it is meant: an agent that is named follows only the groups that name it.',
  },
  'directive-between-agents': {
    message: (diagnostic) =>
      `This user-agent line belongs to the group before it: the directive on ${lineOf(diagnostic)} does not end a group.`,
    hint: () => 'Put an `Allow` or `Disallow` line into the first group (an empty `Disallow:` will do).',
    explanation:
      'Only `Allow` and `Disallow` end a run of user-agent lines. RFC 9309 §2.2.4: other records "MUST NOT interfere". So in `User-agent: a`, `Crawl-delay: 5`, `User-agent: b`, `Disallow: /` both `a` and `b` are disallowed. The delay is for `a` alone: records other than `Allow` and `Disallow` count for the user-agent lines directly above them. One file in twenty has this, and crawlers differ on it.',
  },
  'blank-line-between-agents': {
    message: (diagnostic) =>
      `This user-agent line belongs to the group before it: a blank line (${lineOf(diagnostic)}) does not end a group.`,
    hint: () =>
      'Put an `Allow` or `Disallow` line into the first group (an empty `Disallow:` will do), or remove the blank line.',
    explanation:
      'Blank lines ended a record in the convention of 1994. RFC 9309 ignores them: user-agent lines without a rule between them form one group.',
  },
  'empty-group': {
    message: (diagnostic) => `The group of ${agentOf(diagnostic)} has no rules: everything is allowed to it.`,
    hint: () => 'Add the rules that are missing; write an empty `Disallow:` if everything is to be allowed.',
    explanation:
      'An agent that a group names does not fall back to the `*` group. A group with nothing but, say, a `Crawl-delay` therefore lifts every rule that the `*` group has for it.',
  },
  'merge-allows-all': {
    message: (diagnostic) =>
      `This does not disallow everything to ${agentOf(diagnostic)}: ${lineOf(diagnostic)}, in another group for the same agent, allows it and wins.`,
    hint: () =>
      'Remove one of the two rules. If a CDN put the other into the file, turn that off, or set it up there.',
    explanation:
      'Groups of one agent are merged, and of two rules of the same length allow wins. Services that manage robots.txt, Cloudflare among them, put a group `User-agent: *` with `Allow: /` in front of the file; a `Disallow: /` behind it is then void.',
  },
  'rule-outside-group': {
    message: ({ text }) => `The rule ${quote(text)} belongs to no group and is void.`,
    hint: () => 'Put a `User-agent` line in front of it (`User-agent: *` for all).',
    explanation:
      'A group starts with a user-agent line; rules before the first one are for nobody. In the dialects of the 1990s a blank line ends a record, so that rules behind it are void as well.',
  },
  'rule-never-matches': {
    message: ({ text }) => `${quote(text)} matches nothing: paths start with "/".`,
    hint: ({ text }) =>
      /^https?:/i.test(text)
        ? 'Write the path alone, without scheme and host.'
        : 'Start the pattern with "/", or with "*" where the dialect has wildcards.',
    explanation:
      'RFC 9309 §2.2.2: "The matching MUST start with the first byte of the path", which is always "/". A pattern that starts with anything but "/" or "*" can match no path.',
  },
  'empty-rule': {
    message: () => 'A rule without a path is void: the other rules of the group hold without it.',
    hint: () => 'Remove the line; write `Disallow: /` if everything was meant.',
    explanation:
      'An empty `Disallow:` allows everything only when it is the one rule of its group. Beside other rules it does nothing.',
  },
  'trailing-star': {
    message: ({ text }) => `The \`*\` at the end of ${quote(text)} matches nothing more.`,
    hint: () => 'Leave it out, unless its byte is to make the rule win against another.',
    explanation:
      'Rules match prefixes: `/fish*` matches what `/fish` matches. The `*` still counts as an byte, so the rule wins against one of the same path without it. Behind a `*` an anchoring `$` is void too.',
  },
  'literal-wildcard': {
    message: ({ text }) => `In ${quote(text)} \`*\` and \`$\` are ordinary characters.`,
    hint: () => 'Write prefixes, or read the file by a dialect with wildcards.',
    explanation: 'The conventions of 1994 and 1996 know no wildcards. RFC 9309 made `*` and `$` special.',
  },
  'rewritten-in-urls': {
    message: ({ meant, text }) =>
      meant === ''
        ? `URL parsers take ${quote(text)} out of a URL: written so, the rule matches none that was parsed.`
        : `URL parsers write ${quote(text)} as ${quote(meant ?? '')}: written so, the rule matches no URL that was parsed.`,
    hint: ({ meant }) =>
      meant === ''
        ? 'Write the path as it stands in URLs, without it.'
        : `Write ${quote(meant ?? '')} instead.`,
    explanation:
      'Crawlers compare rules with URLs that a parser has put into their final form (URL Standard): the segments "." and ".." are resolved, in paths a backslash is a slash there, tabs are gone, and spaces, quotes and angle brackets are escaped. Google compares what is written with URLs as they come. RFC 9309 reads raw characters of a rule like their escapes, so that it reports the segments alone.',
  },
  bracket: {
    message: ({ text }) =>
      `${quote(text)} matches only URLs that have it spelt the same way: URL parsers leave brackets as they are.`,
    hint: ({ text }) =>
      `Add the same rule with ${quote(text.startsWith('%') ? decodeURIComponent(text) : encodeURIComponent(text))}, since links are written both ways.`,
    explanation:
      'Brackets are reserved characters (RFC 3986 §2.2), so that a raw one and an escaped one differ, in paths and in queries. Browsers and URL parsers escape neither: `?filter[a]=1` and `?filter%5Ba%5D=1` are both seen, and each needs a rule.',
  },
  'shadowed-rule': {
    message: (diagnostic) =>
      `${quote(diagnostic.text)} never decides: ${lineOf(diagnostic)} matches whatever it matches, and wins.`,
    hint: () => 'Remove the rule, or make it longer than the other if it is meant as an exception.',
    explanation:
      'The longest pattern decides; of equally long ones allow, then the first. In the dialects of the 1990s the first rule that matches decides. Only rules that can be shown never to decide, for all agents of their group, are reported.',
  },
};
