import { z } from 'zod';
import { causesOf, isRobotsError } from '../base/index.ts';
import { refusalIn } from '../guard/index.ts';
import { printable, withoutUserinfo } from '../report/text/index.ts';
import type { MatchedRule } from '../rules/index.ts';
import { decision as decisionSchema } from '../report/schema.ts';
import { whyField } from './fields.ts';

/** The data of a call that was refused, or that failed. */
export interface RefusalFields {
  readonly code: string;
  readonly why: string;
  readonly rule?: MatchedRule | undefined;
  readonly retryAt?: number | undefined;
}

export const refusalFields: z.ZodObject = decisionSchema.pick({ rule: true, retryAt: true }).extend({
  code: z.string().describe('Present when the call was refused or failed: a literal error code'),
  why: whyField,
});

/** A call failed for a reason that no error of the library describes. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Messages quote URLs and patterns, which can be long. */
const MAX_WHY_LENGTH = 2_000;

/** Describes an error for the model; `undefined` for an unexpected error. */
export function refusalFieldsOf(error: unknown): RefusalFields | undefined {
  const refused = refusalIn(error);
  if (refused !== undefined) {
    const { code, decision } = refused;
    return {
      code,
      why: whyOf(refused),
      rule: code === 'ERR_ROBOTS_DISALLOWED' ? decision.rule : undefined,
      retryAt: 'retryAt' in refused ? refused.retryAt : undefined,
    };
  }
  for (const each of causesOf(error)) {
    if (each instanceof ToolError || isRobotsError(each)) {
      return { code: each.code, why: whyOf(each) };
    }
  }
  return undefined;
}

function whyOf({ message }: Error): string {
  return printable(withoutUserinfo(message), MAX_WHY_LENGTH);
}
