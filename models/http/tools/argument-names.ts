// Names of arguments as vendors take them: Anthropic refuses every request with a tool that has another name at any depth, and
// so do servers that pass requests on to it. The model sees a name that is allowed; the tool gets its own. Pure.
import { referred } from '../../../contracts/json';
import { isObject, jsonOf } from '../../dialects/json-text';
import { fieldsOf, listOf, type Fields } from '../replies/untrusted';

const ALLOWED = /^[a-zA-Z0-9_.-]{1,64}$/;
const MAX_LENGTH = 64;
const LISTS = ['anyOf', 'oneOf', 'allOf'];
/** A server's schema may be nested deeper than a stack is. */
const MAX_DEPTH = 200;

export class ArgumentNames {
  private readonly toModel = new Map<string, string>();
  private readonly toTool = new Map<string, string>();
  private readonly taken = new Set<string>();

  constructor(private readonly schema: Fields) {
    const names = [...new Set(namesIn(schema, 0))];
    for (const name of names) if (ALLOWED.test(name)) this.taken.add(name);
    for (const name of names) if (!ALLOWED.test(name)) this.rename(name);
  }

  /** Whether a name differs. */
  get differ(): boolean {
    return this.toModel.size > 0;
  }

  /** The schema as the model sees it. */
  shown(): Fields {
    return this.differ ? (this.renamed(this.schema, 0) as Fields) : this.schema;
  }

  /** Arguments of the tool, as JSON, as the model writes them. */
  asShown = (args: string): string => this.mapped(args, this.toModel);

  /** Arguments that the model wrote, as the tool takes them. */
  asTaken = (args: string): string => this.mapped(args, this.toTool);

  private rename(name: string): void {
    const plain = name.replace(/[^a-zA-Z0-9_.-]/gu, '_').slice(0, MAX_LENGTH) || '_';
    let shown = plain;
    for (let n = 2; this.taken.has(shown); n++) shown = `${plain.slice(0, MAX_LENGTH - 4)}_${n}`;
    this.taken.add(shown);
    this.toModel.set(name, shown);
    this.toTool.set(shown, name);
  }

  private renamed(given: unknown, depth: number): unknown {
    const within = (each: unknown): unknown => this.renamed(each, depth + 1);
    if (Array.isArray(given)) return given.map(within);
    if (!isObject(given) || depth > MAX_DEPTH) return given;
    const name = (key: unknown): unknown => (typeof key === 'string' ? (this.toModel.get(key) ?? key) : key);
    return Object.fromEntries(
      Object.entries(given).map(([key, value]) => {
        if (key === 'properties' && isObject(value))
          return [
            key,
            Object.fromEntries(
              Object.entries(value).map(([own, each]) => [name(own), this.explained(own, within(each))]),
            ),
          ];
        if (key === 'required' && Array.isArray(value)) return [key, value.map(name)];
        if (key === '$ref' && typeof value === 'string') return [key, this.reference(value)];
        return [key, ['enum', 'const', 'default', 'examples'].includes(key) ? value : within(value)];
      }),
    );
  }

  private explained(own: string, schema: unknown): unknown {
    if (!this.toModel.has(own) || !isObject(schema)) return schema;
    const words = [`The argument ${jsonOf(own)}.`, schema.description].filter(
      (each) => typeof each === 'string',
    );
    return { ...schema, description: words.join(' ') };
  }

  private reference(reference: string): string {
    const keys = reference.split('/');
    return keys
      .map((key, at) => {
        const own = key.replaceAll('~1', '/').replaceAll('~0', '~');
        return keys[at - 1] === 'properties' ? (this.toModel.get(own) ?? key) : key;
      })
      .join('/');
  }

  private mapped(args: string, names: ReadonlyMap<string, string>): string {
    if (!this.differ) return args;
    try {
      return JSON.stringify(this.valueAs(JSON.parse(args), [this.schema], names));
    } catch {
      // The dialect says what is wrong with it.
      return args;
    }
  }

  private valueAs(value: unknown, schemas: readonly unknown[], names: ReadonlyMap<string, string>): unknown {
    const all = schemas.flatMap((schema) => this.alternatives(schema, new Set()));
    if (Array.isArray(value)) {
      const items = all.flatMap(({ items: each, prefixItems }) => [each, ...listOf(prefixItems)]);
      return value.map((each) => this.valueAs(each, items, names));
    }
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => {
        const own = names === this.toTool ? (names.get(key) ?? key) : key;
        const known = all.flatMap(({ properties }) =>
          Object.hasOwn(fieldsOf(properties), own) ? [fieldsOf(properties)[own]] : [],
        );
        if (known.length === 0)
          return [
            key,
            this.valueAs(
              each,
              all.map((s) => s.additionalProperties),
              names,
            ),
          ];
        return [names.get(key) ?? key, this.valueAs(each, known, names)];
      }),
    );
  }

  /** A schema with all that apply with it, or instead of it. */
  private alternatives(given: unknown, seen: Set<unknown>): Fields[] {
    if (!isObject(given) || seen.has(given)) return [];
    seen.add(given);
    const { $ref } = given;
    const parts = [
      ...LISTS.flatMap((key) => listOf(given[key])),
      ...(typeof $ref === 'string' ? [$ref === '#' ? this.schema : referred($ref, this.schema)] : []),
    ];
    return [given, ...parts.flatMap((part) => this.alternatives(part, seen))];
  }
}

function namesIn(schema: unknown, depth: number): string[] {
  if (Array.isArray(schema)) return schema.flatMap((each) => namesIn(each, depth + 1));
  if (!isObject(schema) || depth > MAX_DEPTH) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    if (['enum', 'const', 'default', 'examples'].includes(key)) return [];
    if (key !== 'properties' || !isObject(value)) return namesIn(value, depth + 1);
    return [...Object.keys(value), ...Object.values(value).flatMap((each) => namesIn(each, depth + 1))];
  });
}
