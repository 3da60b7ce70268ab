import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/installed.ts';
import { type CompiledScript, compileScript } from '../support/workers.ts';
import { OUTAGES, playOutage } from './outage.ts';

describeWith('redis-server')('a fleet whose Redis is killed within a pause', () => {
  let script: CompiledScript;

  beforeAll(() => {
    script = compileScript(new URL('crawler.ts', import.meta.url));
  });
  afterAll(() => script[Symbol.dispose]());

  it.concurrent.each(OUTAGES)('keeps pauses and gaps: $name', async (outage) => {
    const report = await playOutage(script, outage);
    expect(report.violations).toEqual([]);
  });
});
