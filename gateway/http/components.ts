// The named schemas of the OpenAPI document: generated clients make a type of each. A schema that `contracts/schemas`
// exports keeps its name, any other is named after its route.
import * as answers from '../../contracts/schemas/answers';
import * as shapes from '../../contracts/schemas/http-api';
import { z } from '../../contracts/schemas/zod';
import { capitalized, withNamedParts } from './named-parts';
import type { AnyRoute, Schema } from './route';

export type Json = Record<string, unknown>;

const PLACE = '#/components/schemas/';

export interface Components {
  /** Those that something refers to, by name. */
  schemas: Record<string, Json>;
  refTo(schema: Schema): Json;
}

export function componentsOf(routes: readonly AnyRoute[], others: readonly Schema[]): Components {
  const names = exportedNames();
  for (const { name, body, answer } of routes) {
    if (body && !names.has(body)) names.set(body, `${capitalized(name)}Body`);
    if (answer && !names.has(answer)) names.set(answer, `${capitalized(name)}Answer`);
  }
  const bodies = routes.flatMap(({ body }): Schema[] => (body ? [body] : []));
  const taken = (schema: Schema): boolean => bodies.includes(schema);
  const whole = {
    ...jsonSchemas(names, (schema) => !taken(schema), 'output'),
    ...jsonSchemas(names, taken, 'input'),
  };
  const all = withNamedParts(whole, PLACE);
  const nameOf = (schema: Schema): string => names.get(schema) ?? '';
  const used = routes.flatMap(({ answer }): Schema[] => (answer ? [answer] : []));
  return {
    schemas: reachable(all, [...used, ...bodies, ...others].map(nameOf)),
    refTo: (schema) => ({ $ref: PLACE + nameOf(schema) }),
  };
}

function exportedNames(): Map<Schema, string> {
  const all: [string, unknown][] = Object.entries({ ...answers, ...shapes });
  return new Map(
    all
      .filter((entry): entry is [string, Schema] => isSchema(entry[1]))
      .map(([name, schema]) => [schema, capitalized(name)]),
  );
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && '_zod' in value;

function jsonSchemas(
  names: ReadonlyMap<Schema, string>,
  isWanted: (schema: Schema) => boolean,
  io: 'input' | 'output',
): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of names) if (isWanted(schema)) registry.add(schema, { id });
  const options = { io, unrepresentable: 'any', uri: (id: string) => PLACE + id } as const;
  const { schemas } = z.toJSONSchema(registry, options) as unknown as { schemas: Record<string, Json> };
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutIds(schema)]));
}

/** In the document their place says who they are. */
function withoutIds({ $schema: dialect, $id: id, ...schema }: Json): Json {
  void [dialect, id];
  return schema;
}

function reachable(all: Record<string, Json>, from: readonly string[]): Record<string, Json> {
  const found: Record<string, Json> = {};
  const open = [...from];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const schema = all[name];
    if (!schema || found[name]) continue;
    found[name] = schema;
    for (const [, below = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      open.push(below);
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}
