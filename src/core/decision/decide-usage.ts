/* A file of its own: a client without a purpose does not load it. */
import { type HeaderFields, omitUndefined } from '../base/index.ts';
import { parseRobots, type RobotsFile, statedBy, usage } from '../rules/index.ts';
import type { DecisionUsage, Purpose } from './decision.ts';

let nothingStated: RobotsFile | undefined;

/**
 * Finds what the site states about the use of a page.
 *
 * @param file The file the decision rests on; without one the header fields alone are read.
 */
export function usageOf(
  { url, agent }: { readonly url: string; readonly agent: string },
  file: RobotsFile | undefined,
  purpose: Purpose,
  headers?: HeaderFields,
): DecisionUsage {
  const stated = usage(file ?? (nothingStated ??= parseRobots('')), url, agent, { headers });
  const source = statedBy(stated, purpose);
  return { ...stated, purpose, preference: stated[purpose], ...omitUndefined({ source }) };
}
