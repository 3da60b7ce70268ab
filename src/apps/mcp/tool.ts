import { omitUndefined, printable } from '../../core/base/index.ts';
import type { CallToolResult, Tool as ToolDescription } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { inputSentence } from '../answers/text/reasons.ts';
import { refusalFields, refusalFieldsOf, ToolError } from './fields.ts';

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

export function makeTool<Input>(parts: ToolParts<Input>): Tool {
  const { name, title, description, input, output, asIs } = parts;
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
        const chosen = output.parse(data);
        const fields = { ...fieldsOf(chosen), ...(asIs !== undefined && { [asIs]: chosen[asIs] }) };
        return { content: blocks(text ?? [JSON.stringify(fields)]), structuredContent: fields };
      } catch (error) {
        signal.throwIfAborted();
        const refused = refusalFieldsOf(error);
        if (refused === undefined) throw error;
        return {
          content: blocks([JSON.stringify(fieldsOf(refused))]),
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

/** The length of the longest URL that the tools take. */
const MAX_TEXT_LENGTH = 8_192;

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
  if (typeof value === 'string') return printable(value, MAX_TEXT_LENGTH);
  if (Array.isArray(value)) return value.map(readable);
  return typeof value === 'object' && value !== null ? fieldsOf(value) : value;
}

function readArguments<Input>(name: string, schema: z.ZodType<Input>, given: unknown): Input {
  const read = schema.safeParse(given ?? {});
  if (read.success) return read.data;
  const why = inputSentence(read.error);
  throw new ToolError('ERR_ROBOTS_INVALID_REQUEST', `${why}. These are arguments of ${name}`);
}

/** The validator of the SDK's client reads this draft. */
const DRAFT = {
  target: 'draft-7',
  unrepresentable: 'any',
  // Models need no examples of what they receive.
  override: ({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void => {
    delete jsonSchema.examples;
  },
} as const;

function inputSchema(input: z.ZodType): ToolDescription['inputSchema'] {
  const { properties, required } = z.toJSONSchema(input, { ...DRAFT, io: 'input' });
  return { ...objectSchema(properties), ...omitUndefined({ required }) };
}

/**
 * One schema for results and for refusals. It has the properties of both, because many hosts read no more than
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
