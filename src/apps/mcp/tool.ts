/** Schemas of fields that several tools have, and of refusals. Their descriptions are for the model. */
import { z } from 'zod';
import { type Decision, describeDecision, PURPOSES } from '../../core/decision/index.ts';
import { whySentence } from '../answers/text/sentences.ts';
import * as schema from '../answers/schema/answers.ts';
import { causesOf, isRobotsError, printable, withoutUserinfo } from '../../core/base/index.ts';
import { refusalIn } from '../../core/client/refusal-errors.ts';
import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';

/** Longer than any URL that servers accept. */
const MAX_URL_LENGTH = 8_192;
const MAX_AGENT_LENGTH = 1_000;

export const urlField: z.ZodType<string, string> = z
  .string()
  .min(1)
  .max(MAX_URL_LENGTH)
  .describe('An absolute URL, such as https://example.com/page?id=1');

export const agentField: z.ZodType<string | undefined, string | undefined> = z
  .string()
  .min(1)
  .max(MAX_AGENT_LENGTH)
  .optional()
  .describe(
    'Another crawler to ask about, such as Googlebot. Leave it out to ask about yourself: fetch_page fetches as yourself only',
  );

export const whyField: z.ZodType<string> = z.string().describe('The reason as a sentence');

/** The purpose of the agent, and separately what the site states about it. */
export const purposeFields: Readonly<Record<'purpose' | 'preference', z.ZodType>> = {
  purpose: z
    .enum(PURPOSES)
    .optional()
    .describe('What you fetch pages for; absent when you were started without one'),
  preference: z
    .enum(['allow', 'disallow', 'unknown'])
    .optional()
    .describe(
      'Whether robots.txt or a header field (Content-Usage, Content-Signal) wants the page used for "purpose". fetch_page refuses what it disallows',
    ),
};

/** The fields of a decision that `check_url` and `explain_url` give. */
export const decisionFields: z.ZodObject = schema.decision.extend({ why: whyField });

/** A decision with its reason as a sentence. */
export function withReason(decision: Decision): object {
  return { ...decision, url: withoutUserinfo(decision.url), why: reasonSentence(decision) };
}

/** The sentence that guards say, too. */
function reasonSentence(decision: Decision): string {
  const ofCopy = decision.state === 'last-good' ? ` (${whySentence(decision)})` : '';
  return `${describeDecision(decision)}${ofCopy}.`;
}

/** The data of a call that was refused, or that failed. */
export const refusalFields: z.ZodObject = schema.decision.pick({ rule: true, retryAt: true }).extend({
  code: z.string().describe('Present when the call was refused or failed: a literal error code'),
  why: whyField,
});

/** The error of a call that failed for a reason outside the library. */
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
export function refusalFieldsOf(error: unknown): object | undefined {
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

function whyOf({ message, code }: Error & { readonly code?: string }): string {
  const hint =
    code === 'ERR_ROBOTS_ADDRESS_REFUSED' ? '; --allow-private permits it, when canfetch mcp is started' : '';
  return printable(withoutUserinfo(message), MAX_WHY_LENGTH) + hint;
}

/** The result of a tool: data that fits its output schema, and text for the model. */
export interface ToolAnswer {
  readonly data: object;
  /** Text blocks. Default: the data as JSON. */
  readonly text?: readonly string[];
}

/** The parts that make a tool. */
interface ToolParts<Input> {
  readonly name: string;
  readonly title: string;
  /** A description of the tool, for the model that selects it. */
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** The fields of a result that is no refusal. Other fields that {@link answer} returns are left out. */
  readonly output: z.ZodObject;
  /** The field that holds a page unchanged. Control characters of all other text are shown as codes. */
  readonly asIs?: string;
  answer(input: Input, signal: AbortSignal): Promise<ToolAnswer>;
}

/** A tool, which is called with what its schema has checked. */
export interface Tool<Input = never> {
  call(given: Input, signal: AbortSignal): Promise<CallToolResult>;
  /** @param track Called with each call. */
  register(server: McpServer, track: TrackCall): void;
}

type TrackCall = <Result>(call: Promise<Result>, signal: AbortSignal) => Promise<Result>;

/** Refusals and failures are results with `isError`, so that the model sees them. So are malformed arguments, by the SDK. */
export function makeTool<Input>(parts: ToolParts<Input>): Tool<Input> {
  const { name, title, description, input, output, asIs } = parts;
  const call = async (given: Input, signal: AbortSignal): Promise<CallToolResult> => {
    try {
      const { data, text } = await parts.answer(given, signal);
      const chosen = output.parse(data);
      const fields = { ...fieldsOf(chosen), ...(asIs !== undefined && { [asIs]: chosen[asIs] }) };
      return { content: blocks(text ?? [JSON.stringify(fields)]), structuredContent: fields };
    } catch (error) {
      signal.throwIfAborted();
      const refused = refusalFieldsOf(error);
      if (refused === undefined) throw error;
      const fields = fieldsOf(refused);
      return { content: blocks([JSON.stringify(fields)]), structuredContent: fields, isError: true };
    }
  };
  const config = {
    title,
    description,
    inputSchema: input,
    // Of results and of refusals: many hosts read no more than the properties of an object.
    outputSchema: refusalFields.partial().extend(output.partial().shape),
    annotations: { title, readOnlyHint: true, idempotentHint: true, openWorldHint: true },
  };
  return {
    call,
    register(server, track) {
      server.registerTool(name, config, (given, { mcpReq: { signal } }) =>
        track(call(given, signal), signal),
      );
    },
  };
}

function blocks(texts: readonly string[]): CallToolResult['content'] {
  return texts.map((text) => ({ type: 'text', text }));
}

/**
 * Data with the type of the SDK. Optional fields that are undefined are absent, as in JSON. Text can come from a
 * robots.txt: hosts show it in terminals, and models read what people do not see.
 */
function fieldsOf(data: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).flatMap(([name, value]) => (value === undefined ? [] : [[name, readable(value)]])),
  );
}

function readable(value: unknown): unknown {
  if (typeof value === 'string') return printable(value, MAX_URL_LENGTH);
  if (Array.isArray(value)) return value.map(readable);
  return typeof value === 'object' && value !== null ? fieldsOf(value) : value;
}
