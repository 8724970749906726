// A tool's arguments as the generators need them, and the wording of its parts.
import type { JsonSchema, ToolDescription } from '../../contracts/tools/tools';
import { plainText } from './plain-text';
import { isRecord, propertiesOf, valueType, type ValueType } from './value-type';

export interface ToolArgument {
  name: string;
  type: ValueType;
  required: boolean;
  description: string;
  schema: JsonSchema;
}

const MAX_ARGUMENT_TEXT = 2_000;

/** Required ones first, otherwise in the schema's order. */
export function toolArguments({ parameters }: ToolDescription): ToolArgument[] {
  const all = propertiesOf(parameters).map(({ name, schema, required }) => ({
    name,
    type: valueType(schema, parameters),
    required,
    description: plainText(schema.description, MAX_ARGUMENT_TEXT),
    schema,
  }));
  return [...all.filter(({ required }) => required), ...all.filter(({ required }) => !required)];
}

/** Whether the tool accepts arguments that its schema does not name. */
export const takesOtherArguments = ({ parameters }: ToolDescription): boolean =>
  parameters.additionalProperties === true ||
  isRecord(parameters.additionalProperties) ||
  !isRecord(parameters.properties);

/** What a call returns: a tool without a result schema returns a text. */
export const resultType = ({ result }: ToolDescription): ValueType =>
  result === null ? { kind: 'scalar', of: 'string' } : valueType(result, result);

/** Whether a call returns plain text. */
export const isTextResult = ({ result }: ToolDescription): boolean =>
  result === null || result.type === 'string';

/** Says what a second call does. */
export const EFFECTS: Record<ToolDescription['effects'], string> = {
  read_only: 'Effects: it only reads.',
  idempotent: 'Effects: a second call with the same arguments changes nothing more.',
  once: 'Effects: every call repeats its effect.',
};
