// A tool as a server lists it.
import type { JsonSchema } from '../../../contracts/tools/tools';
import { fieldsOf, isObject, jsonText, textOf } from './fields';
import { readSchema } from './read-schema';

export interface ListedTool {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: JsonSchema;
  /** The schema of an object. */
  outputSchema?: JsonSchema | undefined;
  annotations: { title?: string | undefined; readOnlyHint: boolean; idempotentHint: boolean };
}

/** Throws for what could not be called. */
export function readTool(given: unknown): ListedTool {
  const tool = isObject(given) ? fieldsOf(given) : undefined;
  const name = tool?.name;
  if (!tool || typeof name !== 'string' || name === '')
    throw new Error(`got ${jsonText(given)}, allowed an object with a "name"`);
  const hints = fieldsOf(tool.annotations) ?? {};
  return {
    name,
    title: textOf(tool.title),
    description: textOf(tool.description),
    inputSchema: argumentsOf(tool.inputSchema),
    outputSchema: objectSchema(tool.outputSchema),
    annotations: {
      title: textOf(hints.title),
      // Anything else might let a call be repeated that must not be.
      readOnlyHint: hints.readOnlyHint === true,
      idempotentHint: hints.idempotentHint === true,
    },
  };
}

function argumentsOf(given: unknown): JsonSchema {
  const fields = given === undefined ? {} : fieldsOf(given);
  if (!fields) throw new Error(`got the inputSchema ${jsonText(given)}, allowed the schema of an object`);
  const schema = readSchema(fields);
  if (!isOfObject(schema))
    throw new Error(`got an inputSchema of the type ${jsonText(schema.type)}, allowed "object"`);
  return { ...schema, type: 'object' };
}

/** A result of another kind is given as its text. */
function objectSchema(given: unknown): JsonSchema | undefined {
  if (!isObject(given)) return undefined;
  const schema = readSchema(given);
  return schema.type === 'object' ? schema : undefined;
}

const isOfObject = ({ type }: JsonSchema): boolean =>
  type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));
