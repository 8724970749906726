// The OpenAPI document (3.1), made of the table of routes: its schemas are JSON Schema 2020-12, as zod writes them.
import { ID_PATTERN, MAX_SESSION_NUMBER } from '../../contracts/ids';
import { problem } from '../../contracts/schemas/http-api';
import { z } from '../../contracts/schemas/zod';
import { componentsOf, type Components, type Json } from './components';
import type { AnyRoute, Schema } from './route';

export function openApi(routes: readonly AnyRoute[], version: string): Json {
  const components = componentsOf(routes, [problem]);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = operation(route, components);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Holdfast',
      version,
      description: 'Agents and their terminals: start, watch, steer. docs/api.md has examples.',
    },
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: components.schemas,
      responses: {
        Problem: {
          description: 'What failed, what was given, what is allowed, what to do next (RFC 9457)',
          content: { 'application/problem+json': { schema: components.refTo(problem) } },
        },
      },
    },
  };
}

function operation(route: AnyRoute, components: Components): Json {
  const { name, path, tag, summary, description, role, query, body, example, status = 200 } = route;
  return {
    operationId: name,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    'x-role': role,
    ...(role === 'none' && { security: [] }),
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, param]) => ({
        ...{ name: param, in: 'path', required: true },
        schema: PATH_SCHEMAS[String(param)] ?? { type: 'string' },
      })),
      ...(query ? queryParameters(query) : []),
      ...(route.takesKey ? [IDEMPOTENCY_KEY] : []),
      ...Object.entries(route.headers ?? {}).map(([name, description]) => ({
        ...{ name, in: 'header', required: false, description },
        schema: { type: 'string' },
      })),
    ],
    ...(body && {
      requestBody: {
        // No body is the same as {}.
        required: !z.safeParse(body, {}).success,
        content: {
          'application/json': {
            schema: components.refTo(body),
            ...(example !== undefined && { example }),
          },
        },
      },
    }),
    ...(route.takesBytes && {
      requestBody: {
        required: true,
        content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
      },
    }),
    responses: {
      [status]: answerOf(route, components),
      ...(route.hasRanges && { 206: answerOf(route, components) }),
      default: { $ref: '#/components/responses/Problem' },
    },
  };
}

const ID: Json = { type: 'string', pattern: ID_PATTERN.source };
const PATH_SCHEMAS: Readonly<Record<string, Json>> = {
  agent: ID,
  host: ID,
  session: { type: 'integer', minimum: 0, maximum: MAX_SESSION_NUMBER },
};

const IDEMPOTENCY_KEY: Json = {
  ...{ name: 'Idempotency-Key', in: 'header', required: false },
  description: 'The same again is the same request: it gets the same answer, and nothing is done twice.',
  schema: { type: 'string', minLength: 1, maxLength: 200 },
};

function answerOf({ status = 200, answer, events, types, path }: AnyRoute, components: Components): Json {
  if (status === 204) return { description: 'Done' };
  if (status === 302) return { description: 'Go on there' };
  const json = answer ? ['application/json'] : undefined;
  const all = events ? ['text/event-stream'] : (json ?? types ?? ['application/octet-stream']);
  const schema = answer ? components.refTo(answer) : { type: 'string' };
  const content = Object.fromEntries(all.map((type) => [type, { schema }]));
  return { description: `The answer of ${path}`, content };
}

function queryParameters(query: Schema): Json[] {
  const { properties = {}, required = [] } = jsonSchema(query) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    ...{ name, in: 'query', required: required.includes(name), schema },
  }));
}

function jsonSchema(schema: Schema): Json {
  const { $schema: dialect, ...rest } = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    io: 'input',
  }) as Json;
  void dialect;
  return rest;
}
