import {
  type Diagnostic,
  type Dialect,
  type Group,
  lint,
  parseRobots,
  type RobotsFile,
  type Usage,
  usage,
} from '../../../../src/core/rules/index.ts';

/** A file as lines, to which a finding can be undone. Bytes are characters. */
class Edited {
  readonly #lines: string[];
  readonly #dialect: Dialect;

  constructor(bytes: Uint8Array, dialect: Dialect) {
    this.#lines = Buffer.from(bytes)
      .toString('latin1')
      .split(/\r\n|\r|\n/);
    this.#dialect = dialect;
  }

  /** The file with the text of a line (1-based) replaced; a comment by default, which is as if it were not there. */
  with(line: number, text: (written: string) => string = () => '#'): RobotsFile {
    return this.#parsed((written, at) => (at === line ? text(written) : written));
  }

  /** The file that disallows nothing: no preferences are implied for a page that is disallowed. */
  open(): RobotsFile {
    return this.#parsed((written) => written.replace(/^diss?all?ow[^:]*:.*/i, 'Disallow:'));
  }

  #parsed(change: (written: string, line: number) => string): RobotsFile {
    const lines = this.#lines.map((written, at) => change(written, at + 1));
    return parseRobots(Buffer.from(lines.join('\n'), 'latin1'), { dialect: this.#dialect });
  }

  /** The text of a line. */
  at(line: number): string {
    return this.#lines[line - 1]!;
  }
}

const PURPOSES = ['train-ai', 'ai-use', 'ai-input', 'search'] as const;
const NOBODY = 'NobodyNamesThisOne';
/** Of the agents and paths that a line is not about. */
const SOME = 10;

/** Paths that a pattern matches, if any: each star stands for nothing, for a character, for more. */
export function pathsOf(pattern: string): readonly string[] {
  const anchored = pattern.endsWith('$');
  const path = anchored ? pattern.slice(0, -1) : pattern;
  return ['', '~', 'q~/~q']
    .flatMap((star) => {
      const text = path.replaceAll('*', star).replace(/^[^/]/, '/$&');
      return anchored ? [text] : [text, `${text}~q`];
    })
    .filter((text) => text.startsWith('/'));
}

/** What of a file is asked about: the paths of its rules, and the agents that it names. */
interface Asked {
  readonly file: RobotsFile;
  readonly groups: readonly Group[];
  readonly edited: Edited;
  readonly paths: readonly string[];
  readonly agents: readonly string[];
}

export function asked(bytes: Uint8Array, dialect: Dialect): Asked {
  const file = parseRobots(bytes, { dialect });
  const { groups } = file;
  const patterns = groups.flatMap(({ rules }) => rules.map(({ pattern }) => pattern));
  const names = groups.flatMap(({ agentLines }) => agentLines.flatMap((line) => line.names));
  return {
    file,
    groups,
    edited: new Edited(file.bytes, dialect),
    paths: [...new Set(['/', '/~q', ...patterns.flatMap(pathsOf)])],
    agents: [...new Set([NOBODY, ...names.filter((name) => name !== '*')])],
  };
}

const askedFor = (agent: string): string => (agent === '*' ? NOBODY : agent);
const refuses = (file: RobotsFile, path: string, agent: string): boolean =>
  !file.check(path, askedFor(agent)).allowed;
const decidingLine = (file: RobotsFile, path: string, agent: string): number =>
  file.check(path, askedFor(agent)).rule?.line ?? 0;

/** The group that has a rule on a line. */
const groupWith = ({ groups }: Asked, line: number): Group | undefined =>
  groups.find(({ rules }) => rules.some((rule) => rule.line === line));

/** The paths of the rule on a line. */
function pathsAt(all: Asked, line: number): readonly string[] {
  const rule = groupWith(all, line)?.rules.find((each) => each.line === line);
  return rule === undefined ? [] : pathsOf(rule.pattern);
}

/** Whether a file is the same to its agents but for a line: about the paths of that line, and some others. */
function isTheSame(all: Asked, other: RobotsFile, line: number): boolean {
  const { agentLines = [] } = groupWith(all, line) ?? {};
  const named = agentLines.flatMap(({ names }) => names).slice(0, SOME);
  const agents = [...named, ...all.agents.slice(0, SOME)];
  const paths = [...pathsAt(all, line), ...all.paths.slice(0, SOME)];
  return agents.every((agent) =>
    paths.every((path) => refuses(all.file, path, agent) === refuses(other, path, agent)),
  );
}

const isUseless = (all: Asked, { line }: Diagnostic): boolean => isTheSame(all, all.edited.with(line), line);
/** A rule without a path still ends a run of user-agent lines. */
const isIdleRule = (all: Asked, { line }: Diagnostic): boolean =>
  isTheSame(
    all,
    all.edited.with(line, () => 'Disallow:'),
    line,
  );

/** For each code that says what a line does: whether that is so. It is found out by undoing what the finding names. */
export const oracles: Partial<Record<Diagnostic['code'], (asked: Asked, finding: Diagnostic) => boolean>> = {
  'nothing-in-effect': ({ file, paths, agents }) =>
    agents.every((agent) => paths.every((path) => !refuses(file, path, agent))),
  'site-closed': ({ file, paths }, { otherLine, agents = [] }) =>
    paths.every((path) => refuses(file, path, '*')) &&
    decidingLine(file, '/~q', '*') === otherLine &&
    agents.every((agent) => paths.some((path) => !refuses(file, path, agent))),
  'group-runs-on': (all, { line, otherLine = 0, agents = [] }) => {
    const ended = all.edited.with(otherLine, () => 'Disallow:');
    const paths = pathsAt(all, line);
    return (
      agents.length > 1 &&
      agents.some((agent) =>
        paths.some((path) => refuses(all.file, path, agent) && !refuses(ended, path, agent)),
      )
    );
  },
  'merge-allows-all': ({ file, edited }, { line, otherLine = 0, agent = '*' }) => {
    const without = edited.with(otherLine);
    return (
      decidingLine(file, '/~q', agent) === otherLine &&
      decidingLine(without, '/~q', agent) === line &&
      refuses(without, '/~q', agent)
    );
  },
  'not-inherited': (all, { line, agents = [], otherLines = [] }) =>
    otherLines.every((other) => {
      // The rule of `*`, repeated in the group.
      const { agentLines = [] } =
        all.groups.find((group) => group.agentLines.some((at) => at.line === line)) ?? {};
      const last = agentLines.at(-1)?.line ?? line;
      const repeated = all.edited.with(last, (written) => `${written}\n${all.edited.at(other)}`);
      return agents.every((agent) =>
        pathsAt(all, other).some(
          (path) =>
            decidingLine(all.file, path, '*') === other &&
            !refuses(all.file, path, agent) &&
            refuses(repeated, path, agent),
        ),
      );
    }),
  'preference-not-inherited': ({ edited }, { agents = [], otherLine = 0 }) => {
    const file = edited.open();
    const written = edited.at(otherLine);
    const paths = ['/~q', ...pathsOf(/^[^:]*:[ \t]*(\/[^ \t]*)/.exec(written)?.[1] ?? '')];
    const isFor = (agent: string): boolean =>
      paths.some((path) => usage(file, path, askedFor(agent)).sources.some(({ line }) => line === otherLine));
    // In a file of its own, the line states something.
    const alone = parseRobots(Buffer.from(`User-agent: *\n${written}`, 'latin1'));
    const states = paths.some((path) => {
      const { use, ...stated } = usage(alone, path, NOBODY);
      return use !== undefined || PURPOSES.some((label) => stated[label] !== 'unknown');
    });
    return states && isFor('*') && agents.every((agent) => !isFor(agent));
  },
  // How to write it states what counts of it.
  'unreadable-preference': (_, { kind, text, meant = '' }) => {
    if (kind === 'license') return true;
    const read = (statement: string): Usage =>
      usage(parseRobots(`User-agent: *\nAllow: /\n${kind}: ${statement}`), '/', NOBODY);
    const [written, better] = [read(text), read(meant)];
    return (
      written.sources.every(({ malformed }) => malformed === true) &&
      better.sources.every(({ malformed }) => malformed !== true) &&
      written.use === better.use &&
      PURPOSES.every((purpose) => written[purpose] === 'unknown' || written[purpose] === better[purpose])
    );
  },
  'shadowed-rule': (all, finding) => {
    const { line, otherLine = 0 } = finding;
    const { agentLines = [] } = groupWith(all, line) ?? {};
    const agents = agentLines.flatMap(({ names }) => names);
    const decides = (by: number): boolean =>
      agents.some((agent) => pathsAt(all, line).some((path) => decidingLine(all.file, path, agent) === by));
    return !decides(line) && (decides(otherLine) || agents.length === 0) && isIdleRule(all, finding);
  },
  'empty-group': ({ file, paths }, { agent = '*' }) => paths.every((path) => !refuses(file, path, agent)),
  'rule-never-matches': isIdleRule,
  'rule-outside-group': isUseless,
  'misspelt-key': isUseless,
  'unreadable-line': isUseless,
  'unsupported-directive': isUseless,
  'duplicate-group': (all, { line, otherLine, agent = '' }) => {
    const groups = all.groups.filter(({ agentLines }) =>
      agentLines.some(
        (at) =>
          (at.line === line || at.line === otherLine) &&
          at.names.some((name) => name.toLowerCase() === agent.toLowerCase()),
      ),
    );
    return groups.length === 2;
  },
};

/** The findings of a file that are not so. */
export function falseFindings(bytes: Uint8Array, dialect: Dialect): readonly Diagnostic[] {
  const findings = lint(parseRobots(bytes, { dialect })).filter(({ code }) => oracles[code] !== undefined);
  const all = asked(bytes, dialect);
  return findings.filter((finding) => !oracles[finding.code]?.(all, finding));
}
