// The OpenAPI document as generators of clients read it.
import { openApi } from '../../../gateway/http/open-api';
import { ALL_ROUTES } from '../../../gateway/routes/all-routes';

type Json = Record<string, unknown>;

const { components } = openApi(ALL_ROUTES, '0.1.0') as { components: { schemas: Record<string, Json> } };

/** Where objects with properties stand inside a schema. */
function insideOf(schema: unknown, path: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((member, index) => insideOf(member, `${path}/${index}`));
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    const own = `${path}/${key}`;
    const { type, properties } = (value ?? {}) as Json;
    return [...(type === 'object' && properties ? [own] : []), ...insideOf(value, own)];
  });
}

/** openapi-python-client 0.29 left out most kinds of messages, and could read no transcript. */
test('each object in the document has a name, so that generated clients have a type of it', () => {
  const found = Object.entries(components.schemas).flatMap(([name, schema]) => insideOf(schema, name));
  expect(found).toEqual([]);
  expect(Object.keys(components.schemas)).toEqual(
    expect.arrayContaining(['MessageAssistant', 'MessageTool', 'MessageToolImage', 'AgentListItem']),
  );
});

test('each name that is referred to is there, and is a name in any language', () => {
  const names = Object.keys(components.schemas);
  const referred = [...JSON.stringify(components).matchAll(/"#\/components\/schemas\/([^"]+)"/g)];
  expect(referred.map(([, name]) => name).filter((name = '') => !names.includes(name))).toEqual([]);
  expect(names.filter((name) => !/^[A-Z][A-Za-z0-9]*$/.test(name))).toEqual([]);
});

test('the parameters of paths and of streams are described', () => {
  const { paths } = openApi(ALL_ROUTES, '0.1.0') as {
    paths: Record<string, Record<string, { parameters: { name: string; schema: Json }[] }>>;
  };
  const { parameters = [] } = paths['/v1/agents/{agent}/events']?.['get'] ?? {};
  const schemas = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
  expect(schemas).toMatchObject({ agent: { pattern: expect.any(String) as string }, 'Last-Event-ID': {} });
});
