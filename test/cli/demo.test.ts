import { expect, it } from 'vitest';
import { plan } from '../demo/plan.ts';
import { runDemo } from '../demo/run.ts';

it('the demo crawls every site as it deserves', async () => {
  const progress: string[] = [];
  const { report, differences } = await runDemo({
    onProgress: (done, total) => progress.push(`${done}/${total}`),
  });
  expect(differences).toEqual([]);
  expect(report.trimEnd().split('\n')).toHaveLength(plan.length + 2);
  expect(progress.at(-1)).toBe(`${plan.length}/${plan.length}`);
});
