// References: a whole string "$call_id" or "$call_id.path" in a call's arguments stands for the result of an earlier
// call of the same reply. Pure: the dialect looks for faults before anything runs, the turn fills in the values.
import type { JsonValue } from '../tools/tools';

/** Valid call ids: the part after "$" up to the first dot. */
export const CALL_ID_PATTERN = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const REFERENCE = /^\$([A-Za-z_][A-Za-z0-9_-]*)((?:\.[\p{L}\p{N}_-]+)*)$/u;

interface Reference {
  id: string;
  path: string[];
  text: string;
}

interface Calling {
  callId: string;
  args: Record<string, unknown>;
}

function asReference(text: string): Reference | null {
  const [, id, path = ''] = REFERENCE.exec(text) ?? [];
  return id === undefined ? null : { id, path: path.split('.').slice(1), text };
}

/** `$$id`, `$$id.path`: the first `$` is removed, the rest is text. `$$` before anything else is left alone. */
const isEscaped = (text: string): boolean =>
  text.startsWith('$$') && REFERENCE.test(text.replace(/^\$+/, '$'));

/** A JSON value with `change` applied to each string in it, however deep. */
function mapTexts(value: unknown, change: (text: string) => unknown): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change)]));
}

function referencesIn(args: unknown): Reference[] {
  const found: Reference[] = [];
  mapTexts(args, (text) => {
    const reference = asReference(text);
    if (reference) found.push(reference);
  });
  return found;
}

/** The ids of the calls that these arguments refer to, each once. */
export const findReferences = (args: unknown): string[] => [
  ...new Set(referencesIn(args).map(({ id }) => id)),
];

/** Why these calls cannot be run with their references, in words for the model; null if they can. */
export function referenceFault(calls: readonly Calling[]): string | null {
  const faults = calls.flatMap(({ callId, args }, index) => {
    const before = calls.slice(0, index).map((call) => call.callId);
    const unique = new Map(referencesIn(args).map((reference) => [reference.text, reference]));
    return [...unique.values()]
      .filter(({ id }) => !before.includes(id))
      .map(({ id, text }) => {
        const isLater = calls.some((call) => call.callId === id);
        const what =
          id === callId
            ? 'to itself'
            : isLater
              ? `to "${id}", which comes after it`
              : `to "${id}", which does not exist`;
        return `In the call "${callId}", "${text}" refers ${what}. ${allowed(before)} To mean the text itself, write "$${text}".`;
      });
  });
  return faults.length > 0 ? faults.join(' ') : null;
}

const allowed = (ids: readonly string[]): string =>
  ids.length === 0
    ? 'It may refer to calls before it, and there are none.'
    : `It may refer to calls before it: ${ids.map((id) => `"$${id}"`).join(', ')}.`;

/**
 * The arguments with references replaced by the results of earlier calls, and an escaping `$$` by `$`. A fault says
 * which path does not exist and what does.
 */
export function resolveReferences(
  args: Record<string, unknown>,
  values: Readonly<Record<string, JsonValue>>,
): { args: Record<string, unknown> } | { fault: string } {
  const faults: string[] = [];
  const resolved = mapTexts(args, (text) => {
    if (isEscaped(text)) return text.slice(1);
    const reference = asReference(text);
    if (!reference) return text;
    const found = valueOf(reference, values);
    if ('fault' in found) faults.push(found.fault);
    return 'value' in found ? found.value : text;
  });
  if (faults.length > 0) return { fault: [...new Set(faults)].join(' ') };
  return { args: resolved as Record<string, unknown> };
}

/** The call as it runs, if it refers to no other: an escaping `$$` has become `$`. */
export function withoutEscapes<Call extends { args: Record<string, unknown>; needs?: string[] }>(
  call: Call,
): Call {
  if (call.needs?.length !== 0) return call;
  const resolved = resolveReferences(call.args, {});
  return 'args' in resolved ? { ...call, args: resolved.args } : call;
}

function valueOf(
  { id, path, text }: Reference,
  values: Readonly<Record<string, JsonValue>>,
): { value: JsonValue } | { fault: string } {
  if (!Object.hasOwn(values, id)) return { fault: `"${text}": there is no result of "${id}".` };
  let value = values[id] ?? null;
  let at = `$${id}`;
  for (const key of path) {
    const next = member(value, key);
    if (next === undefined) return { fault: `"${text}": "${at}" is ${described(value)}, got "${key}".` };
    value = next;
    at += `.${key}`;
  }
  return { value };
}

function member(value: JsonValue, key: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

const SHOWN_KEYS = 30;

/** What exists at a place where something else was looked for. */
function described(value: JsonValue): string {
  if (Array.isArray(value))
    return value.length === 0
      ? 'an empty list'
      : `a list of ${value.length}, allowed 0 to ${value.length - 1}`;
  if (typeof value !== 'object' || value === null)
    return `${value === null ? 'null' : `a ${typeof value === 'string' ? 'text' : typeof value}`} without fields`;
  const keys = Object.keys(value);
  if (keys.length === 0) return 'an object without fields';
  const more = keys.length > SHOWN_KEYS ? ` and ${keys.length - SHOWN_KEYS} more` : '';
  return `an object, allowed ${keys.slice(0, SHOWN_KEYS).join(', ')}${more}`;
}
