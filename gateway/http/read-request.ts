// Reads the parts of a request as its route describes them. Throws `invalid_input` for each.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { checkedId, checkedSession, MESSAGE_ID_MAX_CHARS } from '../../contracts/ids';
import { parseWith } from '../../contracts/schemas/parse';
import type { z } from '../../contracts/schemas/zod';
import type { AnyRoute, Schema } from './route';

/** Ids are checked before they touch anything. */
export function checkedParams(params: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(params)) {
    if (name === 'agent' || name === 'host' || name === 'webhook') checkedId(name, value);
    if (name === 'sha256') checkedHash(value);
    if (name === 'session') checkedSession(/^\d{1,6}$/.test(value) ? Number(value) : value);
  }
  return params;
}

function checkedHash(sha256: string): void {
  if (/^[0-9a-f]{64}$/.test(sha256)) return;
  const allowed = '64 digits of 0-9 and a-f';
  throw new HoldfastError('invalid_input', {
    what: 'The hash of an image',
    got: JSON.stringify(sha256),
    allowed,
  });
}

/** Query values are texts: numbers and booleans are read as what the schema wants. */
export function checkedQuery({ query, path }: AnyRoute, given: Record<string, string>): unknown {
  const what = `The query of ${path}`;
  if (!query) {
    const [unknown] = Object.keys(given);
    if (unknown === undefined) return undefined;
    throw new HoldfastError('invalid_input', { what, got: unknown, allowed: 'nothing' });
  }
  const read = Object.fromEntries(
    Object.entries(given).map(([name, text]) => [name, asWanted(kindOf(query, name), text)]),
  );
  return parseWith<unknown>(query, what, read);
}

function asWanted(kind: string | undefined, text: string): unknown {
  if (kind === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

function kindOf(schema: Schema, name: string): string | undefined {
  const { shape } = (schema as unknown as z.core.$ZodObject)._zod.def;
  let field: z.core.$ZodType | undefined = Object.hasOwn(shape, name) ? shape[name] : undefined;
  while (field?._zod.def.type === 'optional') field = (field as z.core.$ZodOptional)._zod.def.innerType;
  return field?._zod.def.type;
}

export function checkedBody({ body, path, isSecret }: AnyRoute, text: string): unknown {
  const what = `The body of ${path}`;
  if (!body && text.trim() === '') return undefined;
  const given = text.trim() === '' ? {} : json(what, text);
  if (body) return parseWith<unknown>(body, what, given, isSecret);
  if (given !== null && typeof given === 'object' && Object.keys(given).length === 0) return undefined;
  throw new HoldfastError('invalid_input', { what, got: 'a value', allowed: 'none, or {}' });
}

function json(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (err) {
    throw new HoldfastError('invalid_input', {
      what,
      got: (err as Error).message,
      allowed: 'one JSON value',
    });
  }
}

/** With or without the quotes that the draft for this header asks for. */
export function checkedKey(header: string | undefined): string | undefined {
  const key = header?.replace(/^"(.*)"$/, '$1');
  if (key === undefined || (/^[\x21-\x7e]+$/.test(key) && key.length <= MESSAGE_ID_MAX_CHARS)) return key;
  throw new HoldfastError('invalid_input', {
    what: 'The header Idempotency-Key',
    got: JSON.stringify(header?.slice(0, 2 * MESSAGE_ID_MAX_CHARS)),
    allowed: `1 to ${MESSAGE_ID_MAX_CHARS} printable characters without spaces`,
  });
}
