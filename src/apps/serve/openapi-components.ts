import { z } from 'zod';
import { PURPOSES } from '../../core/decision/index.ts';
import { components } from '../answers/schema.ts';
import { twoFiles } from './diff.ts';
import { pasted } from './explain.ts';

const text = z.string();
const requests: Readonly<Record<string, z.ZodType>> = {
  Problem: z.object({ type: text, title: text, status: z.int(), detail: text, code: text }),
  Question: z.union([
    text,
    z.object({
      url: text.meta({ examples: ['https://example.com/private/report'] }),
      agent: z
        .union([text, z.array(text)])
        .optional()
        .meta({ examples: [['ExampleBot']] }),
      purpose: z.enum(PURPOSES).optional(),
    }),
  ]),
  PastedFile: pasted,
  TwoFiles: twoFiles,
};
const all: Readonly<Record<string, z.ZodType>> = { ...components, ...requests };

const registry = z.registry<{ readonly id: string }>();
for (const [id, schema] of Object.entries(all)) registry.add(schema, { id });

const described = z.toJSONSchema(registry, {
  uri: (id) => `#/components/schemas/${id}`,
  io: 'input',
  unrepresentable: 'any',
});

/** The schemas of requests and responses, by name, in JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export const schemas: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries(described.schemas).map(([name, schema]) => {
    delete schema.$schema;
    delete schema.$id;
    return [name, schema];
  }),
);

/** Makes a reference to one of {@link schemas}. */
export const reference = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

/** An example of a request or a response, made of the examples of its fields. Optional fields without one are left out. */
export function example(name: string): unknown {
  const schema = all[name];
  return schema === undefined ? undefined : exampleOf(schema);
}

function exampleOf(schema: unknown): unknown {
  const given = schema instanceof z.ZodType ? stated(schema) : undefined;
  if (given !== undefined || schema instanceof z.ZodOptional) return given;
  if (schema instanceof z.ZodLiteral) return schema.value;
  if (schema instanceof z.ZodEnum) return schema.options[0];
  if (schema instanceof z.ZodUnion) return exampleOf(schema.options.at(-1));
  if (schema instanceof z.ZodArray) {
    const item = exampleOf(schema.element);
    return item === undefined ? [] : [item];
  }
  if (!(schema instanceof z.ZodObject)) return undefined;
  const fields = Object.entries(schema.shape).map(
    ([name, field]) => [name, exampleOf(field), field] as const,
  );
  const isWhole = fields.every(([, value, field]) => value !== undefined || field instanceof z.ZodOptional);
  return isWhole ? Object.fromEntries(fields.filter(([, value]) => value !== undefined)) : undefined;
}

/** The example that a schema states itself, or for an optional field the schema in it. */
function stated(schema: z.ZodType): unknown {
  const examples: unknown = schema.meta()?.['examples'];
  if (Array.isArray(examples)) return examples[0];
  const inner: unknown = schema instanceof z.ZodOptional ? schema.unwrap() : undefined;
  return inner instanceof z.ZodType ? stated(inner) : undefined;
}
