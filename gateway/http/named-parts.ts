// Gives names to the objects inside named schemas: generators for some languages make types of named schemas only, or make
// one name for two of the others.
import type { Json } from './components';

/** The fields by which the members of a union differ. */
const DISCRIMINATORS = ['role', 'kind', 'is', 'state'];

/**
 * The schemas, in which each object with properties is a schema of its own, named after where it stands. Equal ones are one.
 * @param place what stands before a name in a reference
 */
export function withNamedParts(schemas: Readonly<Record<string, Json>>, place: string): Record<string, Json> {
  const parts = new Parts(schemas, place);
  for (const [name, schema] of Object.entries(schemas)) parts.named[name] = parts.inside(schema, name);
  return parts.named;
}

class Parts {
  readonly named: Record<string, Json>;
  private readonly nameOf = new Map<string, string>();

  constructor(
    schemas: Readonly<Record<string, Json>>,
    private readonly place: string,
  ) {
    this.named = { ...schemas };
  }

  /** The schema itself, with references in place of the objects inside it. */
  inside(schema: Json, name: string): Json {
    const changed = { ...schema };
    const { properties, items, additionalProperties, anyOf, oneOf, allOf } = schema as Record<
      string,
      unknown
    >;
    if (isJson(properties))
      changed['properties'] = mapped(properties, (part, key) => this.part(part, name + capitalized(key)));
    if (isJson(items)) changed['items'] = this.part(items, singular(name));
    if (isJson(additionalProperties))
      changed['additionalProperties'] = this.part(additionalProperties, `${name}Value`);
    for (const [key, members] of Object.entries({ anyOf, oneOf, allOf }))
      if (Array.isArray(members)) changed[key] = this.members(members as unknown[], name);
    return changed;
  }

  private members(members: unknown[], name: string): unknown[] {
    const objects = members.filter((member) => isJson(member) && isObjectSchema(member));
    return members.map((member, index) => {
      if (!isJson(member)) return member;
      // Next to null, or to a number, the only object is what the whole is named after.
      const suffix = objects.length > 1 ? suffixOf(member, index) : '';
      return this.part(member, name + suffix);
    });
  }

  private part(schema: unknown, name: string): unknown {
    if (!isJson(schema)) return schema;
    const whole = this.inside(schema, name);
    if (!isObjectSchema(schema)) return whole;
    const text = JSON.stringify(whole);
    const known = this.nameOf.get(text) ?? this.freeName(name);
    this.nameOf.set(text, known);
    this.named[known] = whole;
    return { $ref: this.place + known };
  }

  private freeName(name: string): string {
    for (let number = 1; ; number += 1) {
      const wanted = number === 1 ? name : `${name}${number}`;
      if (!Object.hasOwn(this.named, wanted)) return wanted;
    }
  }
}

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isObjectSchema = ({ type, properties }: Json): boolean => type === 'object' && isJson(properties);

function suffixOf({ properties }: Json, index: number): string {
  for (const name of DISCRIMINATORS) {
    const value = isJson(properties) ? properties[name] : undefined;
    if (isJson(value) && typeof value['const'] === 'string') return capitalized(value['const']);
  }
  return String(index + 1);
}

/** `MessageToolImages` holds a `MessageToolImage`. */
const singular = (name: string): string => (/[a-z]s$/.test(name) ? name.slice(0, -1) : `${name}Item`);

const mapped = (record: Json, to: (value: unknown, key: string) => unknown): Json =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value, key)]));

/** Of letters and digits only: a name in many languages. */
export const capitalized = (name: string): string =>
  name.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_all, letter: string) => letter.toUpperCase());
