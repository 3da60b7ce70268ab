import {
  agentSentence,
  count,
  fileName,
  type Palette,
  printable,
  ruleText,
  type Unversioned,
} from '../../answers/text/index.ts';
import type { TestLine } from '../../answers/schema.ts';
import type { TestedExpectation, TestedFile } from './expectations.ts';
import { artifactUri, sarifLog, type SarifRule } from '../frame/sarif.ts';

/** Renders an expectation that is not met for people, with the line of robots.txt that decides. */
export function renderFailure(file: TestedFile, tested: TestedExpectation, colours: Palette): string {
  const applies = applyingGroup(file, tested);
  const rows = [
    ['decides', decidingLine(file, tested)],
    ...(applies === undefined ? [] : [['agent', applies]]),
  ];
  return `${[
    `${colours.bad('FAILED')}  ${fileName(file.list)}:${tested.line}  ${expectationText(tested)}`,
    ...rows.map(([label = '', text = '']) => `  ${colours.faint(label.padEnd(7))} ${text}`),
  ].join('\n')}\n`;
}

/** Renders the same as one sentence, for programs that show a single message. */
export function failureMessage(file: TestedFile, tested: TestedExpectation): string {
  const applies = applyingGroup(file, tested);
  return (
    `Expected "${expectationText(tested)}" (${fileName(file.list)}:${tested.line}), ` +
    `but it is ${tested.verdict.allowed ? 'allowed' : 'disallowed'}: ${decidingLine(file, tested)}` +
    `${applies === undefined ? '' : `; ${applies}`}.`
  );
}

function expectationText({ expected, agent, input }: TestedExpectation): string {
  return `${expected} ${printable(agent)} ${printable(input)}`;
}

/** The line that decides as `FILE:LINE`, which editors and terminals turn into a link, or why there is none. */
function decidingLine({ name, url, because }: TestedFile, { verdict }: TestedExpectation): string {
  if (because !== undefined) return because;
  const { rule, reason } = verdict;
  if (rule !== undefined) return `${fileName(url ?? name)}:${ruleText(rule).replace(/^line /, '')}`;
  if (reason === 'robots-txt') return '/robots.txt itself may always be fetched';
  return 'no rule matches, so it is allowed';
}

/** The group that applies to the agent; `undefined` when none is asked. */
function applyingGroup({ because }: TestedFile, { agent, verdict }: TestedExpectation): string | undefined {
  const { group, reason } = verdict;
  if (because !== undefined || reason === 'robots-txt') return undefined;
  return agentSentence(agent, group, reason === 'no-group');
}

/** Renders how many expectations are met. */
export function renderSummary(total: number, failed: number): string {
  if (failed === 0) return `${count(total, 'expectation')} met\n`;
  return `${failed.toLocaleString('en')} of ${total.toLocaleString('en')} expectations not met\n`;
}

/** Converts a tested expectation to plain data. */
export function testRecord(
  { name, url, list, because }: TestedFile,
  { expected, agent, input, line, met, verdict }: TestedExpectation,
): Unversioned<TestLine> {
  const { allowed, reason, rule, group } = verdict;
  return {
    file: list,
    line,
    expected,
    agent,
    input,
    met,
    robots: url ?? name,
    allowed,
    ...(because === undefined ? { reason, rule, group } : { because }),
  };
}

const rules: readonly SarifRule[] = [
  {
    id: 'unexpected-allow',
    explanation: 'An agent may fetch a URL that it is expected not to fetch.',
    level: 'error',
  },
  {
    id: 'unexpected-disallow',
    explanation: 'An agent may not fetch a URL that it is expected to fetch.',
    level: 'error',
  },
];

/** Renders the expectations that are not met as a SARIF log, at the lines of robots.txt that decide. */
export function testSarif(file: TestedFile, failures: readonly TestedExpectation[]): string {
  const artifacts = [artifactUri(file), artifactUri({ name: file.list })];
  const at = (index: number, startLine: number): object => ({
    physicalLocation: { artifactLocation: { uri: artifacts[index], index }, region: { startLine } },
  });
  return sarifLog({
    rules,
    artifacts,
    results: failures.map((failure) => {
      const { line, verdict } = failure;
      const ruleIndex = verdict.allowed ? 0 : 1;
      // Code scanning services need a line: without a rule it is that of the group, or the first.
      const deciding = verdict.rule?.line ?? verdict.group?.lines[0] ?? 1;
      return {
        ruleId: rules[ruleIndex]?.id,
        ruleIndex,
        level: 'error',
        message: { text: failureMessage(file, failure) },
        locations: [at(0, file.because === undefined ? deciding : 1)],
        relatedLocations: [{ id: 0, message: { text: 'The expectation' }, ...at(1, line) }],
      };
    }),
    failures: [],
  });
}

/** The SARIF log of a run in which robots.txt was unreachable. */
export function unreachableSarif(because: string): string {
  return sarifLog({ rules, artifacts: [], results: [], failures: [because] });
}
