import { artifactUri, sarifLog, type SarifRule } from '../frame/sarif.ts';
import type { TestedExpectation, TestedFile } from './expectations.ts';
import { failureMessage } from './render.ts';

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
