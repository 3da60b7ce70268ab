import { invalid, quote } from '../../base/index.ts';
import { SPECIFICATIONS } from '../usage/usage-source.ts';
import type { Diagnostic, DiagnosticCode } from './diagnostic.ts';

/** The text of a diagnostic. */
export interface DiagnosticDescription {
  /** The problem, in one sentence. */
  readonly message: string;
  /** The remedy. */
  readonly hint: string;
  /** Why it matters, from the documentation of its code. */
  readonly explanation: string;
}

/** A kind of problem. */
interface Finding {
  readonly message: (diagnostic: Diagnostic) => string;
  readonly hint: (diagnostic: Diagnostic) => string;
  readonly explanation: string;
}

/**
 * Describes a diagnostic in words. Text of the file is quoted as in JSON.
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
 * // 2:1 "Dissalow" is read as "disallow". Write "disallow": other crawlers may ignore the line.
 * ```
 */
export function describeDiagnostic(diagnostic: Diagnostic): DiagnosticDescription {
  if (!Object.hasOwn(findings, Object(diagnostic).code))
    throw invalid('the diagnostic', 'one that `lint` gave', diagnostic);
  const { message, hint, explanation } = findings[diagnostic.code];
  const more = diagnostic.omitted === undefined ? '' : ` (${diagnostic.omitted} more of this kind.)`;
  return { message: message(diagnostic) + more, hint: hint(diagnostic), explanation };
}

const agentOf = ({ agent }: Diagnostic): string => (agent === '*' ? 'all agents (`*`)' : quote(agent ?? ''));
const lineOf = ({ otherLine }: Diagnostic): string => `line ${otherLine ?? 0}`;
const MAX_NAMED = 3;

/** `"a", "b" and 2 more`. */
function listed(names: readonly string[] = []): string {
  const shown = names.slice(0, MAX_NAMED).map((name) => (name === '*' ? 'all agents (`*`)' : quote(name)));
  const more = names.length - shown.length;
  if (more > 0) return `${shown.join(', ')} and ${more} more`;
  return shown.length < 2 ? shown.join() : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

const linesOf = ({ otherLines = [] }: Diagnostic): string =>
  `${otherLines.length === 1 ? 'line' : 'lines'} ${otherLines.join(', ')}`;

/** Characters that look like a space or like nothing, by name. */
const CHARACTER_NAMES: Readonly<Record<string, string>> = {
  '\u00a0': 'no-break space',
  '\u00ad': 'soft hyphen',
  '\u200b': 'zero-width space',
  '\u3000': 'ideographic space',
  '\ufeff': 'byte order mark, where two files were joined',
};

/** `U+00A0 (no-break space)`. */
function characterOf({ text }: Diagnostic): string {
  const code = (text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const name = CHARACTER_NAMES[text];
  return `U+${code}${name === undefined ? '' : ` (${name})`}`;
}

/** Directives outside RFC 9309 that occur in real files: their origin and status. */
const ORIGINS: Readonly<Record<string, string>> = {
  'crawl-delay':
    'a pause between two requests, in seconds; Bing, Common Crawl and Anthropic obey it, Google and (since 2018) Yandex do not; guards of canfetch with `pacing` keep it',
  'request-rate':
    'documents per time, from a proposal of 1996; few crawlers obey it; guards of canfetch with `pacing` keep it',
  'visit-time': 'hours (UTC) for visits, from a proposal of 1996; hardly any crawler obeys it',
  host: 'the preferred mirror of a site for Yandex, which dropped it in 2018',
  'clean-param':
    'query parameters that do not change a page, for Yandex; it merges URLs and disallows nothing',
  noindex: 'a directive that was never part of any standard; Google stopped reading it in 2019',
  nofollow: 'a directive that was never part of any standard; Google stopped reading it in 2019',
  noarchive: 'a directive that was never part of any standard',
  'content-usage': `an AIPREF usage preference (${SPECIFICATIONS['content-usage']}); it says what content may be used for, not who may fetch it`,
  'content-signal': `a usage preference (${SPECIFICATIONS['content-signal']}); it says what content may be used for, not who may fetch it`,
  'content-signals': 'another spelling of Content-Signal, which some parsers read',
  license: `the URL of a licence (${SPECIFICATIONS.license}); it says on what terms content may be used, not who may fetch it`,
  disallowaitraining:
    "from an expired Internet draft; Google's parser reads it as `Disallow`, which blocks its search crawler too",
  allowaitraining: "from an expired Internet draft; Google's parser reads it as `Allow`",
  schemamap: 'the URL of a map of structured data; no known crawler uses it',
  'llms-txt': 'the URL of an `llms.txt` file; no specification says what it means here',
  'llm-policy': 'the URL of an `llms.txt` file; no specification says what it means here',
  'tdm-reservation': 'a reservation of text and data mining rights, which belongs in an HTTP header',
  'tdm-policy': 'a policy for text and data mining, which belongs in an HTTP header',
  allow: '`Allow`, which the convention of 1994 does not have',
};

/** The origin and status of a directive outside RFC 9309; `undefined` if it is unknown. */
function originOfDirective(key: string): string | undefined {
  const name = key.toLowerCase();
  return Object.hasOwn(ORIGINS, name) ? ORIGINS[name] : undefined;
}

/** Message, hint and explanation of every kind of problem. */
const findings: Readonly<Record<DiagnosticCode, Finding>> = {
  'nothing-in-effect': {
    message: () => 'Nothing in this file has an effect: every agent may fetch everything.',
    hint: () => 'Start with `User-agent: *`, and write one rule a line below it.',
    explanation:
      'A file has an effect by rules in a group, by sitemaps, or by records such as `Crawl-delay`. What cannot be read is ignored, and without rules everything is allowed.',
  },
  'site-closed': {
    message: (diagnostic) => {
      const { agents = [] } = diagnostic;
      const but =
        agents.length === 0 ? '' : `, except where groups of their own open it to ${listed(agents)}`;
      return `The site is closed to all agents by ${lineOf(diagnostic)}${but}.`;
    },
    hint: () => 'Remove the rule if search engines should find the site.',
    explanation:
      '`Disallow: /` in the group of `*` disallows everything to each agent that has no group of its own. It is often left over from a test server.',
  },
  'group-runs-on': {
    message: (diagnostic) => {
      const { agents, kind = '', text } = diagnostic;
      const between = kind === '' ? 'a blank line' : quote(kind);
      const what = text === '/' ? 'closes the site to' : 'is a rule for';
      return `${quote(`Disallow: ${text}`)} ${what} ${listed(agents)} alike, because ${between} on ${lineOf(diagnostic)} does not end a group.`;
    },
    hint: (diagnostic) =>
      `Put an \`Allow\` or \`Disallow\` line before the next \`User-agent\` after ${lineOf(diagnostic)} (an empty \`Disallow:\` will do).`,
    explanation:
      'Only `Allow` and `Disallow` end a run of user-agent lines. A group that has nothing but, say, a `Crawl-delay` therefore shares the rules of the next one: `User-agent: *`, `Crawl-delay: 5`, `User-agent: a`, `Disallow: /` closes the site to all.',
  },
  'utf-16': {
    message: ({ severity }) =>
      severity === 'error'
        ? 'The file is UTF-16 but is read as UTF-8, so no line can be understood.'
        : 'The file is UTF-16. It was converted to UTF-8 before it was read.',
    hint: () => 'Save the file as UTF-8.',
    explanation:
      'RFC 9309 §2.3: the file MUST be "UTF-8 encoded". Google and most other crawlers do not convert it. They find no rules, so everything is allowed.',
  },
  'invalid-utf-8': {
    message: () => 'The file is not UTF-8 from here on.',
    hint: () => 'Save the file as UTF-8, or write the bytes of paths as percent escapes.',
    explanation:
      'RFC 9309 §2.3 asks for UTF-8. Bytes are compared as they stand, so a path in another encoding matches only URLs escaped from the same encoding; crawlers that decode the file first match something else or nothing.',
  },
  'past-size-limit': {
    message: () => 'Crawlers may stop reading before the end of this line. The rest of the file may be lost.',
    hint: () => 'Shorten the file: merge rules with a common prefix, and remove rules that never decide.',
    explanation:
      'RFC 9309 §2.5: crawlers may impose a parsing limit, which "MUST be at least 500 kibibytes". Google, Yandex and canfetch stop there. What a lost rule disallows is allowed.',
  },
  'line-too-long': {
    message: ({ severity }) =>
      severity === 'error'
        ? 'The line is cut here. The rest of it is ignored.'
        : 'Google cuts the line here and ignores the rest.',
    hint: () => 'Split the line, or shorten the pattern.',
    explanation:
      "Google's parser keeps the first 16,663 bytes of a line. A rule that is cut matches more than was written.",
  },
  html: {
    message: () => 'This is HTML, not robots.txt.',
    hint: () => 'Serve the file as text/plain, or respond with 404 if there is none.',
    explanation:
      'Many servers send a page with status 200 for unknown paths, and so do logins and firewalls. Crawlers find no rules in it, so everything is allowed.',
  },
  'forgiven-key': {
    message: (diagnostic) => `${quote(diagnostic.text)} is read as "${diagnostic.meant ?? ''}".`,
    hint: ({ meant }) => `Write "${meant ?? ''}": other crawlers may ignore the line.`,
    explanation:
      "Google's parser accepts a few misspellings, and RFC 9309 lets others do so. Other crawlers lose the rule or the whole group.",
  },
  'misspelt-key': {
    message: ({ text }) => `${quote(text)} is not a directive, so the line is ignored.`,
    hint: ({ meant }) => `Write "${meant ?? ''}" if that is what you meant.`,
    explanation:
      'Unknown lines are ignored and do not affect the lines around them. Without its `Disallow` line a path is allowed; without its `User-agent` line a group belongs to the agents before it.',
  },
  'missing-colon': {
    message: ({ meant, severity }) =>
      severity === 'error'
        ? `The key has no colon, so the line (probably "${meant ?? ''}") is ignored.`
        : `The key has no colon. The line is read as "${meant ?? ''}" anyway.`,
    hint: () => 'Put a colon (U+003A) after the key.',
    explanation:
      "Google's parser and canfetch accept a missing colon if the line is exactly two words. Most crawlers do not.",
  },
  'unreadable-line': {
    message: ({ text }) => `${quote(text)} is not a line of a robots.txt file, so it is ignored.`,
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
  'invisible-character': {
    message: (diagnostic) => {
      const { kind, meant, severity } = diagnostic;
      const what = `${characterOf(diagnostic)} is invisible`;
      if (severity === 'error') return `${what}, and hides the key "${meant ?? ''}": the line is ignored.`;
      return kind === 'path'
        ? `${what}, and part of the path: the rule matches only URLs that have it.`
        : `${what}, and part of what is read.`;
    },
    hint: () => 'Delete it, and type a plain space if one is meant.',
    explanation:
      'No-break spaces, byte order marks and zero-width characters come with text that was copied from a page or joined from several files. RFC 9309 trims spaces and tabs alone. An agent line that is lost leaves its rules to the group before it.',
  },
  'unsupported-directive': {
    message: ({ text }) => {
      const origin = originOfDirective(text);
      const known = origin === undefined ? 'canfetch does not know it' : `it is ${origin}`;
      return `${quote(text)} is not part of RFC 9309 and allows or disallows nothing: ${known}.`;
    },
    hint: ({ text }) =>
      originOfDirective(text) === undefined
        ? 'Check the spelling, or remove the line.'
        : 'Keep it only for the crawlers that obey it.',
    explanation:
      'RFC 9309 §2.2.4: "Crawlers MAY interpret other records that are not part of the robots.txt protocol", and their parsing "MUST NOT interfere with the parsing of explicitly defined records". Shown once for each directive.',
  },
  'invalid-crawl-delay': {
    message: ({ text }) => `${quote(text)} is not a number of seconds, so the delay is ignored.`,
    hint: () => 'Write seconds as a decimal number, such as `Crawl-delay: 10` or `Crawl-delay: 0.5`.',
    explanation: 'A delay that cannot be read has no effect. Some parsers even reject the whole file.',
  },
  'unreadable-preference': {
    message: ({ kind, text }) =>
      kind === 'license'
        ? `The licence ${quote(text)} is not an absolute URL, so it is ignored.`
        : `The format, a label or a value of ${quote(text)} is unknown.`,
    hint: ({ kind, meant = '' }) => {
      if (kind === 'license') return 'Write the whole URL, with scheme and host.';
      if (meant !== '') return `Write ${quote(meant)}.`;
      return kind === 'content-usage'
        ? 'Write `train-ai=n`: the labels are train-ai, ai-use and search, the values y and n.'
        : 'Write `ai-train=no`: the labels are search, ai-input and ai-train, the values yes and no.';
    },
    explanation:
      '`Content-Usage` is a list of `label=y` or `label=n`, `Content-Signal` one of `label=yes` or `label=no`, separated by commas. canfetch keeps to what it can read; other crawlers may read nothing.',
  },
  'relative-sitemap': {
    message: ({ text }) => `The sitemap ${quote(text)} is not an absolute http or https URL.`,
    hint: () => 'Write the whole URL, with scheme and host.',
    explanation:
      'The sitemaps protocol requires a full URL, and Google a "fully qualified" one. Few crawlers resolve a relative URL.',
  },
  'record-outside-group': {
    message: ({ text }) => `${quote(text)} is outside any group, so it applies to no agent.`,
    hint: () =>
      'Put it below a `User-agent` line: `User-agent: *` is for all agents without a group of their own.',
    explanation:
      'Records such as `Crawl-delay` and `Content-Usage` apply to the user-agent lines directly above them. Before the first one they apply to no agent, not to all.',
  },
  'origin-wide-signal': {
    message: ({ text }) =>
      `${quote(text)} stands apart from all groups: canfetch reads it for all agents, other crawlers may not.`,
    hint: () =>
      'Repeat it in each group that it is for: below `User-agent: *`, and below each agent with a group of its own.',
    explanation:
      'The Content Signals Policy shows the line inside a group. Sites also write it once for all agents, in front of the first group or in a paragraph of its own. There a crawler that reads signals by group does not find it, or takes it for a part of the group above. Of several statements the most restrictive counts.',
  },
  'license-in-last-group': {
    message: (diagnostic) =>
      `This licence does not apply to all agents: it belongs to the group that starts on ${lineOf(diagnostic)}.`,
    hint: () => 'Put it before the first `User-agent` line if it is meant for all agents.',
    explanation:
      'RSL 1.0 scopes a `License` line by its place: inside a group it is for that group, and replaces the licences before the first group. A group ends at the next `User-agent` line, not at a blank line, so a line at the end of the file belongs to the last group. The guide of RSL calls `License` a global directive and puts it at the end of the file, against the specification (§4.4), which canfetch follows. Before the first group both texts agree.',
  },
  'agent-not-token': {
    message: ({ kind, meant, severity, text }) => {
      if (kind === 'list') return `Google reads ${quote(text)} as the first of its names alone.`;
      if (severity === 'error') return `${quote(text)} names no agent, so this line adds none to the group.`;
      if (severity === 'info')
        return `${quote(text)} is not a product token of RFC 9309. It is read as written.`;
      return `${quote(text)} is not a product token of RFC 9309. It is read as "${meant ?? ''}".`;
    },
    hint: ({ severity }) =>
      severity === 'info'
        ? 'Write the name as the documentation of the crawler does. If that has digits or dots, leave them.'
        : 'Write one product token a line, without version, URL, list or wildcard.',
    explanation:
      'RFC 9309 §2.2.1: a product token "MUST contain only uppercase and lowercase letters ("a-z" and "A-Z"), underscores ("_"), and hyphens ("-")". A fifth of the names in real files have other characters. Google reads a name up to the first of them: `MJ12bot` as `MJ`. `A B`, `A; B` and a whole User-Agent string name their first token only, which for many crawlers is "Mozilla".',
  },
  'duplicate-group': {
    message: (diagnostic) =>
      `There is already a group for ${agentOf(diagnostic)} (${lineOf(diagnostic)}). Their rules are merged.`,
    hint: () => 'Write one group for each agent.',
    explanation:
      'RFC 9309 §2.2.1: "If there is more than one group matching the user-agent, the matching groups\' rules MUST be combined into one group". Some crawlers use only the first group, or only the last.',
  },
  'directive-between-agents': {
    message: (diagnostic) =>
      `This user-agent line belongs to the group before it: the directive on ${lineOf(diagnostic)} does not end a group.`,
    hint: () => 'Put an `Allow` or `Disallow` line into the first group (an empty `Disallow:` will do).',
    explanation:
      'Only `Allow` and `Disallow` end a run of user-agent lines. RFC 9309 §2.2.4: other records "MUST NOT interfere". So `User-agent: a`, `Crawl-delay: 5`, `User-agent: b`, `Disallow: /` disallows both `a` and `b`. The delay is for `a` alone: such records apply to the user-agent lines directly above them. One file in twenty has this, and crawlers differ on it.',
  },
  'empty-group': {
    message: (diagnostic) =>
      `The group of ${agentOf(diagnostic)} has no rules, so everything is allowed to it.`,
    hint: () => 'Add the missing rules, or an empty `Disallow:` if everything should be allowed.',
    explanation:
      'A named agent does not fall back to the `*` group. So a group that has, say, only a `Crawl-delay` lifts all rules of the `*` group for its agents.',
  },
  'merge-allows-all': {
    message: (diagnostic) =>
      `This does not disallow everything to ${agentOf(diagnostic)}: ${lineOf(diagnostic)} in another group for it allows everything and wins.`,
    hint: ({ kind }) =>
      kind === 'runs-on'
        ? 'Put an `Allow` or `Disallow` line into the group that runs on into the other one.'
        : 'Remove one of the two rules. If a CDN added the other one, change it in the settings of the CDN.',
    explanation:
      'Groups of one agent are merged, and of two rules of the same length allow wins. Services that manage robots.txt, such as Cloudflare, put `User-agent: *` with `Allow: /` before the file. A `Disallow: /` after it then has no effect.',
  },
  'not-inherited': {
    message: (diagnostic) =>
      `${listed(diagnostic.agents)} ${(diagnostic.agents?.length ?? 0) > 1 ? 'do' : 'does'} not inherit ${linesOf(diagnostic)}: a named group replaces the group of \`*\`.`,
    hint: () => 'Repeat the rules of `*` that should hold in this group, too.',
    explanation:
      'RFC 9309 §2.2.1: the group of `*` is for agents that no other group names. A group for `GPTBot` with `Allow: /` opens what `*` disallows, and one with a single `Disallow` opens all the rest.',
  },
  'preference-not-inherited': {
    message: (diagnostic) =>
      `The preference on ${lineOf(diagnostic)} is not for ${listed(diagnostic.agents)}: a named group replaces the group of \`*\`.`,
    hint: () => 'Repeat the line in this group.',
    explanation:
      '`Content-Usage` and `Content-Signal` apply to the user-agent lines above them. An agent with a group of its own has the preferences of that group, or none.',
  },
  'rule-outside-group': {
    message: ({ text }) => `The rule ${quote(text)} is in no group, so it has no effect.`,
    hint: () => 'Put a `User-agent` line before it (`User-agent: *` for all agents).',
    explanation:
      'A group starts with a user-agent line. Rules before the first one apply to no agent. In the dialects of the 1990s a blank line ends a record, and rules after it have no effect either.',
  },
  'rule-never-matches': {
    message: ({ text }) => `${quote(text)} matches nothing, because paths start with "/".`,
    hint: ({ text }) => {
      if (/^(?:https?:|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\/)/i.test(text))
        return 'Write only the path, without scheme and host.';
      if (/^["']/.test(text)) return 'Remove the quotes.';
      if (/^[^\x21-\x7e]+\//.test(text))
        return 'Delete what stands before the first "/", which may be invisible.';
      return text.startsWith('^')
        ? 'Remove the "^": patterns start at the first "/" anyway, and are no regular expressions.'
        : 'Start the pattern with "/", or with "*" if the dialect has wildcards.';
    },
    explanation:
      'RFC 9309 §2.2.2: "The matching MUST start with the first byte of the path", which is always "/". A pattern that starts with anything but "/" or "*" can match no path.',
  },
  'hash-in-path': {
    message: ({ meant, text }) =>
      `A \`#\` starts a comment: ${quote(text)} is read as ${quote(meant ?? '')}.`,
    hint: () =>
      'Write `%23` for a `#` in a path, or a space before a comment. URLs are requested without `#…`.',
    explanation:
      'RFC 9309 §2.2: `#` starts a comment, also within a path. `Disallow: /#/admin` closes the whole site. What follows `#` in a URL never reaches a server, so no rule can be about it.',
  },
  'blank-in-path': {
    message: ({ text }) => `${quote(text)} is one path, and the blank is part of it.`,
    hint: () => 'Write one rule a line, and `%20` for a blank in a path.',
    explanation:
      'A rule has one path. RFC 9309 §2.2.2 has crawlers compare a blank as `%20`; those that take the path as it is written, such as Google, find it in no URL.',
  },
  'host-in-path': {
    message: ({ text }) => `${quote(text)} looks like a URL with a host.`,
    hint: () => 'Write only the path: the rules are for the host that serves the file.',
    explanation:
      'Patterns are paths: `*` stands for any characters, `$` at the end for the end of the URL, and everything else for itself (RFC 9309 §2.2.3).',
  },
  'raw-letters': {
    message: ({ text }) =>
      `${quote(text)} has letters outside ASCII, which some crawlers do not encode before they compare.`,
    hint: ({ meant = '' }) => `Write ${quote(meant)}.`,
    explanation:
      'RFC 9309 §2.2.2 has crawlers encode such letters. Google recommends to write them percent-encoded (since 23 October 2026): then every crawler compares the same bytes.',
  },
  'rewritten-in-urls': {
    message: ({ meant, text }) =>
      meant === ''
        ? `URL parsers remove ${quote(text)} from URLs, so the rule matches no URL that was parsed.`
        : `URL parsers write ${quote(text)} as ${quote(meant ?? '')}, so the rule matches no URL that was parsed.`,
    hint: ({ meant }) => (meant === '' ? 'Remove it from the rule.' : `Write ${quote(meant ?? '')} instead.`),
    explanation:
      'Crawlers compare rules with URLs that a URL parser has normalised (URL Standard): "." and ".." segments are resolved, backslashes in paths become slashes, tabs are removed, and spaces, quotes and angle brackets are escaped. Google compares rules as written. RFC 9309 compares raw characters and their escapes as equal, so in that dialect only the segments are reported.',
  },
  bracket: {
    message: ({ text }) =>
      `${quote(text)} matches only URLs that spell it the same way, because URL parsers do not change brackets.`,
    hint: ({ text }) =>
      `Add the same rule with ${quote(text.startsWith('%') ? decodeURIComponent(text) : encodeURIComponent(text))}, because links have both spellings.`,
    explanation:
      'Brackets are reserved characters (RFC 3986 §2.2), so a raw bracket and an escaped one differ. Browsers and URL parsers do not change them: `?filter[a]=1` and `?filter%5Ba%5D=1` are both in use, and each needs a rule.',
  },
  'shadowed-rule': {
    message: (diagnostic) =>
      `${quote(diagnostic.text)} never decides: ${lineOf(diagnostic)} matches everything that it matches, and wins.`,
    hint: () => 'Remove the rule, or make it longer than the other one if it is meant as an exception.',
    explanation:
      'The longest pattern decides; of equally long ones allow, then the first. In the dialects of the 1990s the first rule that matches decides. A rule is reported only if it can be shown that it never decides, for all agents of its group.',
  },
};
