import { expect, it } from 'vitest';
import { plan } from '../../demo/plan.ts';
import { runDemo } from '../../demo/run.ts';

it('the demo crawls every site as it deserves', async () => {
  const progress: string[] = [];
  const { report, differences } = await runDemo({
    onProgress: (done, total) => progress.push(`${done}/${total}`),
  });
  expect(differences).toEqual([]);
  const [crawled = '', account = ''] = report.split('\n\n');
  expect(crawled.split('\n')).toHaveLength(plan.length + 2);
  // 14 URLs and 3 redirects; a page is asked about once more for the table.
  expect(account).toMatch(/^\d+ requests sent, \d refused(?: \(\d URLs?\))?, 1 deferred, 2 pauses\b/);
  expect(account).toMatch(/rule at line 5 \(disallow: \/private\), such as http/);
  expect(progress.at(-1)).toBe(`${plan.length}/${plan.length}`);
});
