import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from 'vitest/node';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** What the last run here measured. */
const MEASURED = `${root}build/durations.json`;
/** What a run measured for fresh clones, as in CI: `npm run durations` renews it. */
const KEPT = `${root}test/support/durations.json`;

type Durations = Readonly<Record<string, number>>;

/** Milliseconds by test file. */
function readDurations(): Durations {
  for (const path of [MEASURED, KEPT]) {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Durations;
    } catch {
      // Not written yet, or cut off by a run that was stopped: the next one will do.
    }
  }
  return {};
}

/** Writes how long each test file took, the longest first. Files that this run left out keep what they took last. */
export class DurationsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const measured = modules.map((module): [string, number] => [
      relative(root, module.moduleId),
      Math.round(module.diagnostic().duration),
    ]);
    const all = Object.entries({ ...readDurations(), ...Object.fromEntries(measured) });
    mkdirSync(`${root}build`, { recursive: true });
    writeFileSync(
      MEASURED,
      `${JSON.stringify(Object.fromEntries(all.sort(([, a], [, b]) => b - a)), undefined, 2)}\n`,
    );
  }
}

/** Starts the files that take the longest first, so that no worker ends long after the others. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const durations = readDurations();
    // A file that was never measured may be a long one.
    const of = ({ moduleId }: TestSpecification): number => durations[relative(root, moduleId)] ?? Infinity;
    return files.sort((a, b) => {
      const [left, right] = [of(a), of(b)];
      return left === right ? a.moduleId.localeCompare(b.moduleId) : right - left;
    });
  }
}
