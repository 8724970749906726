// A tool as models and scripts see it: its schemas become JSON Schema.
import * as z from 'zod/mini';
import type { JsonSchema, ToolDescription } from '../contracts/tools/tools';
import type { Tool } from './tool';

/** What JSON Schema cannot express is described as any value. */
const LENIENT = { unrepresentable: 'any' } as const;

export function describe(tool: Tool): ToolDescription {
  const { name, description, effects, runsOn } = tool;
  return {
    name,
    description,
    parameters: parametersOf(tool),
    result: resultOf(tool) ?? null,
    effects,
    runsOn: runsOn ?? 'anywhere',
  };
}

/** The schema of the input: arguments with a default may be left out. */
export const parametersOf = ({ args, parameters }: Pick<Tool, 'args' | 'parameters'>): JsonSchema =>
  parameters ?? z.toJSONSchema(args, { ...LENIENT, io: 'input' });

export const resultOf = ({ result }: Pick<Tool, 'result'>): JsonSchema | undefined =>
  result && ('jsonSchema' in result ? result.jsonSchema : z.toJSONSchema(result, LENIENT));
