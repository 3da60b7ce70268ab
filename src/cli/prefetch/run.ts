import { DEFAULT_CONCURRENCY, mapBatches } from '../../base/index.ts';
import { type Target, targetLines } from '../../report/input/index.ts';
import type { Session } from '../../report/index.ts';
import type { ParsedArguments } from '../frame/command.ts';
import type { ExitCode } from '../frame/exit-code.ts';
import { interruptible } from '../frame/interruptible.ts';
import { onlineSettings, openClient } from '../frame/open-client.ts';
import { openList } from '../frame/open-list.ts';
import { onlyOperand, readForm, readWholeNumber } from '../frame/settings.ts';
import { DistinctOrigins } from '../../url/index.ts';
import { originTarget, PrefetchReport, type Prefetched } from './report.ts';

const STDIN = '-';

const MAX_CONCURRENCY = 1_024;

/** A small cache is enough: each origin is asked once, and only redirects between sites read it again. */
const CACHE = { maxOrigins: 10_000, maxBytes: 32 * 1_048_576 };

/** Fetches the robots.txt of each origin once, and prints a line for each. */
export async function prefetchOrigins(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const list = onlyOperand(given, 'a file of URLs, or "-" for standard input');
  const form = readForm(given, 'json');
  const concurrency =
    readWholeNumber(given, 'concurrency', { min: 1, max: MAX_CONCURRENCY }) ?? DEFAULT_CONCURRENCY;
  const settings = onlineSettings(given);
  return interruptible(session, { readsStdin: list === STDIN }, async (signal) => {
    const stream = await openList(list, 'a file of URLs', session, signal);
    await using opened = await openClient(settings, session, { concurrency, cache: CACHE });
    const { client } = opened;
    const { robotsAccount } = await import('../../client/index.ts');
    using account = robotsAccount(client, { onFirstRefused: false });
    const report = new PrefetchReport(form, given, session, stream);
    try {
      const origins = new DistinctOrigins();
      const ask = (line: Target, signal: AbortSignal): Prefetched | Promise<Prefetched> | undefined => {
        report.read();
        const target = originTarget(line);
        if ('error' in target) return target;
        // The URL of the front page represents the origin. The report leaves out the decision about that page.
        return origins.add(target.origin)
          ? client.check(`${target.origin}/`, undefined, { signal })
          : undefined;
      };
      for await (const prefetched of mapBatches(targetLines(stream), { concurrency, signal }, ask)) {
        await report.add(prefetched);
      }
      signal.throwIfAborted();
      return await report.finish(account);
    } catch (error) {
      if (session.signal.aborted) report.interrupted();
      throw error;
    } finally {
      report.leave();
    }
  });
}
