// Checks a value against its shape and reports everything wrong with it, in the catalogue's words.
import { HoldfastError } from '../errors/holdfast-error';
import { asJson } from '../text/as-json';
import { z } from './zod';
import { ownValue } from '../own';
import { shortened } from '../text/well-formed';

/** Refusals of signals are kept across continue-as-new, and key names may be as long as a message. */
const SHOWN_FAULTS = 2_000;

/**
 * The checked value. Throws `invalid_input`, which names `what` and every fault with its place; for a `secret`
 * value, such as input that may be a password, it shows only the keys. Accepts schemas of `zod` and `zod/mini`.
 */
export function parseWith<T>(schema: z.core.$ZodType<T>, what: string, value: unknown, secret = false): T {
  return checkedBy(z.core.safeParse(schema, value ?? {}, IN_OUR_WORDS), { what, value, secret });
}

/** The same for schemas of others, whose checks may be async. Throws what such a check throws. */
export async function parseAsyncWith<T>(
  schema: z.core.$ZodType<T>,
  what: string,
  value: unknown,
  secret = false,
): Promise<T> {
  const result = await z.core.safeParseAsync(schema, value ?? {}, IN_OUR_WORDS);
  return checkedBy(result, { what, value, secret });
}

/** Another library in the process may have configured zod's messages. */
const IN_OUR_WORDS = { error: describe };

function checkedBy<T>(
  result: z.core.util.SafeParseResult<T>,
  { what, value, secret }: { what: string; value: unknown; secret: boolean },
): T {
  if (result.success) return result.data;
  const faults = result.error.issues.map((issue) => `${pointer(issue.path)}${issue.message}`);
  throw new HoldfastError('invalid_input', {
    what,
    got: secret ? shorten(keysOf(value)) : shorten(asJson(faultyPart(value, result.error))),
    allowed: `a value without these faults: ${shorten(faults.join('; '), SHOWN_FAULTS)}`,
  });
}

/** What was given under the keys that have faults; all of it where that says nothing. */
function faultyPart(value: unknown, { issues }: z.core.$ZodError): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const faulty = issues.flatMap((issue) =>
    issue.path.length === 0 && issue.code === 'unrecognized_keys' ? issue.keys : [issue.path[0]],
  );
  const part = Object.entries(value).filter(([key]) => faulty.includes(key));
  return part.length > 0 ? Object.fromEntries(part) : value;
}

const keysOf = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? `an object with ${Object.keys(value).join(', ')}`
    : typeof value;

/** RFC 6901. */
const pointer = (path: PropertyKey[]): string =>
  path.length > 0
    ? `"${path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')}" `
    : '';

function describe(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${/^[aio]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return `has unknown keys ${issue.keys.join(', ')}`;
    case 'too_big':
      return `must ${has(issue.origin)} at most ${counted(issue.maximum, issue.origin)}`;
    case 'too_small':
      return `must ${has(issue.origin)} at least ${counted(issue.minimum, issue.origin)}`;
    case 'invalid_format':
      return `must match ${issue.format === 'regex' ? String(issue.pattern) : issue.format}`;
    case 'invalid_union':
      return issue.errors.length > 0
        ? `matches none of the alternatives: ${alternatives(issue.errors)}`
        : 'is invalid';
    case 'not_multiple_of':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return 'is invalid';
  }
}

/** What is counted of values that are no numbers. */
const COUNTED: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
  set: 'item',
  object: 'key',
};
const has = (origin: string): string => (ownValue(COUNTED, origin) === undefined ? 'be' : 'have');
function counted(limit: number | bigint, origin: string): string {
  const unit = ownValue(COUNTED, origin);
  return unit === undefined ? String(limit) : `${String(limit)} ${unit}${Number(limit) === 1 ? '' : 's'}`;
}

/** Each alternative with its faults. */
function alternatives(errors: z.core.$ZodIssue[][]): string {
  const faulty = errors.map((faults) =>
    faults
      .map((fault) => `${pointer(fault.path)}${describe(fault as unknown as z.core.$ZodRawIssue)}`)
      .join(', '),
  );
  return [...new Set(faulty)].join('; or ');
}

const shorten = (text: string, length = 200): string =>
  text.length > length ? `${shortened(text, length)} (${text.length} characters)` : text;
