/**
 * The one description of the results of the command, the service and the tools for AI agents. OpenAPI's components and
 * the outputs of the tools are made from it. A field that a type has and its schema has not does not compile.
 */
import type { z } from 'zod';
import { decision, lineError, robots, usage, verdict, group, rule } from './schema/decision.ts';
import { explanation, pastedResult } from './schema/explanation.ts';
import { diagnostic, policy } from './schema/policy.ts';

export * from './schema/decision.ts';
export * from './schema/explanation.ts';
export type * from './schema/lines.ts';
export * from './schema/policy.ts';

/** The components of OpenAPI, by name. */
export const components: Readonly<Record<string, z.ZodType>> = {
  Rule: rule,
  Group: group,
  RobotsSource: robots,
  Decision: decision,
  LineError: lineError,
  Verdict: verdict,
  Usage: usage,
  Diagnostic: diagnostic,
  Policy: policy,
  Explanation: explanation,
  PastedVerdicts: pastedResult,
};
