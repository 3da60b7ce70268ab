import { jsonLine, omitUndefined } from '../../../core/base/index.ts';
import type { Decision, OriginPolicy } from '../../../core/decision/index.ts';
import type { TargetResult } from '../input/targets.ts';
import type { Asked, LineError } from '../schema/decision.ts';
import type { PolicyData } from '../schema/policy.ts';
import type { FileDecision } from '../verdict.ts';

/**
 * Renders a result as a line of NDJSON: `schemaVersion`, `input` (the URL as written), `line` when it came from
 * standard input, and then either all fields of the decision or `error: { code, message }`.
 */
export function renderRecord(result: TargetResult): string {
  const { input, line } = result.target;
  if ('error' in result) return jsonLine<LineError>({ input, line, error: result.error });
  return jsonLine<Asked & (Decision | FileDecision)>({ input, line, ...result.decision });
}

/** Converts a policy to plain data, without the parsed file and its bytes. */
export function policyRecord({ rules, file, ...policy }: OriginPolicy): PolicyData {
  const dialect = omitUndefined({ dialect: rules?.dialect });
  if (file === undefined) return { ...policy, ...dialect };
  const { body: _, ...described } = file;
  return { ...policy, ...dialect, file: described };
}
