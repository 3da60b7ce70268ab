import {
  parseRobots,
  type Preference,
  type RobotsFile,
  statedBy,
  usage,
  type Usage,
  type UsageOptions,
  type UsageSource,
} from '../rules/index.ts';
import type { Purpose } from './purpose.ts';

/** A site's statements about the use of a page, and the result for the purpose that was asked about. */
export interface DecisionUsage extends Usage {
  readonly purpose: Purpose;
  /** Whether the site wants its page used so. `unknown`: it does not say. */
  readonly preference: Preference;
  /** The line or header field that says so; absent when `preference` is `unknown`. */
  readonly source?: UsageSource;
}

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
  headers?: UsageOptions,
): DecisionUsage {
  const stated = usage(file ?? (nothingStated ??= parseRobots('')), url, agent, headers);
  const source = statedBy(stated, purpose);
  return { ...stated, purpose, preference: stated[purpose], ...(source !== undefined && { source }) };
}
