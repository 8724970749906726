// Types and values in Python syntax. Annotations are never evaluated, but they must parse.
import { quoted } from './plain-text';
import type { Literal, Scalar, ValueType } from './value-type';

const SCALAR: Record<Scalar, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};
const MAX_DEFAULT_LENGTH = 200;
const MAX_DEFAULT_DEPTH = 5;

/** The text of an annotation. */
export function pythonType(type: ValueType): string {
  switch (type.kind) {
    case 'any':
      return 'Any';
    case 'scalar':
      return SCALAR[type.of];
    case 'literal':
      return pythonLiterals(type.values);
    case 'list':
      return `list[${pythonType(type.item)}]`;
    case 'map':
      return `dict[str, ${pythonType(type.value)}]`;
    case 'record':
      return 'dict[str, Any]';
    case 'union':
      return [...new Set(type.of.map(pythonType))].join(' | ');
  }
}

/** `Literal` does not allow fractions; those become their type. */
function pythonLiterals(values: readonly Literal[]): string {
  if (values.every((value) => value === null)) return 'None';
  if (values.some((value) => typeof value === 'number' && !Number.isSafeInteger(value))) return 'float';
  return `Literal[${values.map(pythonLiteral).join(', ')}]`;
}

/** A JSON value in Python syntax, or null if it is too large for a signature. */
export function pythonLiteral(value: unknown, depth = 0): string | null {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return Number.isFinite(value) ? JSON.stringify(value) : null;
  if (typeof value === 'string') return value.length <= MAX_DEFAULT_LENGTH ? quoted(value) : null;
  if (typeof value !== 'object' || depth >= MAX_DEFAULT_DEPTH) return null;
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  if (entries.length > MAX_DEFAULT_LENGTH / 4) return null;
  const parts = entries.map(([key, item]) => {
    const literal = pythonLiteral(item, depth + 1);
    return literal === null || isList ? literal : `${quoted(key)}: ${literal}`;
  });
  const text = parts.join(', ');
  if (parts.includes(null) || text.length > MAX_DEFAULT_LENGTH) return null;
  return isList ? `[${text}]` : `{${text}}`;
}
