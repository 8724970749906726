// Reads the values of a provider's answer, which may have any type: compatible servers send anything. Pure.
import { isObject, jsonOf } from '../../dialects/json-text';
import type { NativeCall } from '../../provider';
import type { Tokens } from '../cost';

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object; of anything else none. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

/** A list; a value that should have been in one is a list of one. */
export const listOf = (value: unknown): readonly unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The text of a content: a text itself, or a list of parts, of which some servers make even a plain text. */
export const contentText = (content: unknown): string =>
  listOf(content)
    .map((part) => {
      if (typeof part === 'string') return part;
      const { type, text } = fieldsOf(part);
      return type === 'text' || type === 'output_text' ? textOf(text) : '';
    })
    .join('');

/** The words of a refusal among the parts of a content. */
export const refusedText = (content: unknown): string =>
  listOf(content)
    .map(fieldsOf)
    .map(({ type, refusal }) => (type === 'refusal' ? textOf(refusal) : ''))
    .join('');

/** A call as the dialect reads it, which says what is missing. */
export const callOf = ({ id, tool, args }: { id: unknown; tool: unknown; args: unknown }): NativeCall => ({
  id: textOf(id),
  tool: textOf(tool),
  args: argumentsText(args),
});

/** Arguments are a JSON text; some servers send the object itself, or nothing for a tool without arguments. */
export const argumentsText = (args: unknown): string =>
  args === undefined || args === null ? '' : typeof args === 'string' ? args : jsonOf(args);

/** A number of tokens; undefined for anything that is none, which would spoil every sum and limit. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** A number of tokens that may be left out. */
export const countOrNone = (value: unknown): number => countOf(value) ?? 0;

/** As both of OpenAI's APIs count: what was read from the cache is part of the input. */
export function tokensOf(counts: { input: unknown; output: unknown; details: unknown }): Tokens | undefined {
  const [input, output] = [countOf(counts.input), countOf(counts.output)];
  if (input === undefined || output === undefined) return undefined;
  return { input, cached: Math.min(input, countOrNone(fieldsOf(counts.details).cached_tokens)), output };
}
