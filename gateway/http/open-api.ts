// The OpenAPI document (3.1), made of the table of routes: its schemas are JSON Schema 2020-12, as zod writes them.
import { problem } from '../../contracts/schemas/http-api';
import { z } from '../../contracts/schemas/zod';
import type { AnyRoute, Schema } from './route';

type Json = Record<string, unknown>;

export function openApi(routes: readonly AnyRoute[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = operation(route);
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
      schemas: { Problem: jsonSchema(problem, 'output') },
      responses: {
        Problem: {
          description: 'What failed, what was given, what is allowed, what to do next (RFC 9457)',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
  };
}

function operation(route: AnyRoute): Json {
  const { path, tag, summary, description, role, query, body, example, status = 200 } = route;
  return {
    operationId: operationId(route),
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    'x-role': role,
    ...(role === 'none' && { security: [] }),
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
        ...{ name, in: 'path', required: true },
        schema: name === 'session' ? { type: 'integer', minimum: 0 } : { type: 'string' },
      })),
      ...(query ? queryParameters(query) : []),
      ...(route.takesKey ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(body && {
      requestBody: {
        content: {
          'application/json': {
            schema: jsonSchema(body, 'input'),
            ...(example !== undefined && { example }),
          },
        },
      },
    }),
    responses: { [status]: answerOf(route), default: { $ref: '#/components/responses/Problem' } },
  };
}

const IDEMPOTENCY_KEY: Json = {
  ...{ name: 'Idempotency-Key', in: 'header', required: false },
  description: 'The same again is the same request: it gets the same answer, and nothing is done twice.',
  schema: { type: 'string', minLength: 1, maxLength: 200 },
};

function answerOf({ status = 200, answer, events, path }: AnyRoute): Json {
  if (status === 204) return { description: 'Done' };
  const type = events ? 'text/event-stream' : answer ? 'application/json' : 'application/octet-stream';
  const schema = answer ? jsonSchema(answer, 'output') : { type: 'string' };
  return { description: `The answer of ${path}`, content: { [type]: { schema } } };
}

function queryParameters(query: Schema): Json[] {
  const { properties = {}, required = [] } = jsonSchema(query, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    ...{ name, in: 'query', required: required.includes(name), schema },
  }));
}

function jsonSchema(schema: Schema, io: 'input' | 'output'): Json {
  const { $schema: dialect, ...rest } = z.toJSONSchema(schema, { unrepresentable: 'any', io }) as Json;
  void dialect;
  return rest;
}

/** `GET /v1/agents/{agent}/tree` is `getAgentsTree`. */
function operationId({ method, path }: AnyRoute): string {
  const words = path.split('/').filter((part) => part !== '' && part !== 'v1');
  const name = words.map((word) =>
    word.startsWith('{') ? '' : `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
  );
  const one = words.at(-1)?.startsWith('{') ? 'One' : '';
  return `${method.toLowerCase()}${name.join('')}${one}`;
}
