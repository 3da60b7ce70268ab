import type { CallToolResult, Tool as ToolDescription } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { refusalFields, refusalFieldsOf, ToolError } from './refusal.ts';

/** The result of a tool: data that fits its output schema, and text for the model. */
export interface ToolAnswer<Data extends object> {
  readonly data: Data;
  /** Text blocks. Default: the data as JSON. */
  readonly text?: readonly string[];
}

/** The parts that make a tool. */
interface ToolParts<Input, Data extends object> {
  readonly name: string;
  readonly title: string;
  /** A description of the tool, for the model that selects it. */
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** The data of an answer that is no refusal. */
  readonly output: z.ZodType<Data>;
  answer(input: Input, signal: AbortSignal): Promise<ToolAnswer<Data>>;
}

/** A tool as the protocol describes and calls it. */
export interface Tool {
  readonly description: ToolDescription;
  /**
   * Refusals, failures and malformed arguments are results with `isError`, so that the model sees them.
   *
   * @throws the reason of `signal`, or an unexpected error.
   */
  call(given: unknown, signal: AbortSignal): Promise<CallToolResult>;
}

export function makeTool<Input, Data extends object>(parts: ToolParts<Input, Data>): Tool {
  const { name, title, description, input, output } = parts;
  return {
    description: {
      name,
      title,
      description,
      inputSchema: inputSchema(input),
      outputSchema: outputSchema(output),
      annotations: { title, readOnlyHint: true, idempotentHint: true, openWorldHint: true },
    },
    async call(given, signal) {
      try {
        const { data, text } = await parts.answer(readArguments(name, input, given), signal);
        return { content: blocks(text ?? [JSON.stringify(data)]), structuredContent: fieldsOf(data) };
      } catch (error) {
        signal.throwIfAborted();
        const refused = refusalFieldsOf(error);
        if (refused === undefined) throw error;
        return {
          content: blocks([JSON.stringify(refused)]),
          structuredContent: fieldsOf(refused),
          isError: true,
        };
      }
    },
  };
}

function blocks(texts: readonly string[]): CallToolResult['content'] {
  return texts.map((text) => ({ type: 'text', text }));
}

/** Data with the type of the SDK. Optional fields that are undefined are absent, as in JSON. */
function fieldsOf(data: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
}

function readArguments<Input>(name: string, schema: z.ZodType<Input>, given: unknown): Input {
  const read = schema.safeParse(given ?? {});
  if (read.success) return read.data;
  const why = z.prettifyError(read.error).replaceAll(/\s+/g, ' ');
  throw new ToolError('ERR_ROBOTS_INVALID_REQUEST', `Expected other arguments for ${name}: ${why}`);
}

/** The validator of the SDK's client reads this draft. */
const DRAFT = { target: 'draft-7' } as const;

function inputSchema(input: z.ZodType): ToolDescription['inputSchema'] {
  const { properties, required } = z.toJSONSchema(input, { ...DRAFT, io: 'input' });
  return { ...objectSchema(properties), ...(required === undefined ? {} : { required }) };
}

/**
 * One schema for answers and for refusals. Its properties are those of both, because many hosts read no more than
 * `properties`; `anyOf` says which of them come together.
 */
function outputSchema(output: z.ZodType): NonNullable<ToolDescription['outputSchema']> {
  const answer = z.toJSONSchema(output, DRAFT);
  const refusal = z.toJSONSchema(refusalFields, DRAFT);
  return {
    ...objectSchema({ ...refusal.properties, ...answer.properties }),
    anyOf: [{ required: answer.required }, { required: refusal.required }],
  };
}

function objectSchema(
  properties: z.core.JSONSchema.BaseSchema['properties'] = {},
): ToolDescription['inputSchema'] {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    // A schema may also be `true` or `false`. Those of properties here are objects.
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, Object(schema)]),
    ),
    additionalProperties: false,
  };
}
