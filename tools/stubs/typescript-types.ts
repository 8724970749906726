// Types in TypeScript syntax; people also read them, as the shape of an object.
import { quoted } from './plain-text';
import type { Field, Scalar, ValueType } from './value-type';

const SCALAR: Record<Scalar, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** The text of a type. */
export function typescriptType(type: ValueType): string {
  switch (type.kind) {
    case 'any':
      return 'any';
    case 'scalar':
      return SCALAR[type.of];
    case 'literal':
      return type.values
        .map((value) => (typeof value === 'string' ? quoted(value) : JSON.stringify(value)))
        .join(' | ');
    case 'list':
      return `Array<${typescriptType(type.item)}>`;
    case 'map':
      return `{ [key: string]: ${typescriptType(type.value)} }`;
    case 'record':
      return `{ ${[...type.fields.map(typescriptField), ...(type.open ? [OTHERS] : [])].join('; ')} }`;
    case 'union':
      return [...new Set(type.of.map(typescriptType))].join(' | ');
  }
}

const OTHERS = '[key: string]: unknown';

/** `"name"?: type`: quoted, so that any name works. */
const typescriptField = ({ name, type, required }: Field): string =>
  `${quoted(name)}${required ? '' : '?'}: ${typescriptType(type)}`;
