// An entry in the table of routes: all that is known about one. The server, the OpenAPI document and the tests read it.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { z } from '../../contracts/schemas/zod';
import type { Role } from '../../contracts/gateway/api';
import type { Caller } from '../access/grants';
import type { GatewayContext } from '../gateway-context';

export type Schema<T = unknown> = z.core.$ZodType<T>;

/** The names in the braces of a path. */
type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;
export type Params<Path extends string> = Record<ParamNames<Path>, string>;

export interface Asked<Path extends string, Query, Body> {
  /** Ids and numbers in them are checked. */
  params: Params<Path>;
  query: Query;
  body: Body;
  /** The header `Idempotency-Key`: the same again is the same request. */
  key: string | undefined;
  caller: Caller;
  context: GatewayContext;
  /** Aborts when the client has gone away. */
  signal: AbortSignal;
  connection: Connection;
}

/** Where a request came from, and how. */
export interface Connection {
  /** The request itself, for a route that takes bytes. */
  incoming: IncomingMessage;
  /** The address of the other end; behind a proxy, the proxy's. */
  address: string;
  headers: IncomingHttpHeaders;
}

interface Fields<Path extends string, Query, Body, Answer> {
  /** What generated clients call it (`operationId`); of no other route. */
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** As OpenAPI writes it: `/v1/agents/{agent}`. */
  path: Path;
  /** The group in the document. */
  tag: string;
  /** One line. */
  summary: string;
  /** More, where one line is not enough. */
  description?: string;
  /** `none`: a request needs no token. */
  role: Role | 'none';
  /** It writes its own line of the audit log, if it changes anything. */
  audits?: true;
  /** The header Idempotency-Key makes a second request the same as the first. */
  takesKey?: true;
  query?: Schema<Query>;
  body?: Schema<Body>;
  /** Errors show only the body's keys. */
  isSecret?: boolean;
  /** Default 200. */
  status?: 200 | 201 | 202 | 204 | 302;
  /** The body is bytes, however many: the route reads them itself. */
  takesBytes?: true;
  /** Headers that it reads besides, each with what it is for. */
  headers?: Readonly<Record<string, string>>;
  /** It answers a part with 206. */
  hasRanges?: true;
  /** The answer is a stream of events. */
  events?: true;
  /** Media types of an answer of bytes. Default `application/octet-stream`. */
  types?: readonly string[];
  /** Absent: no JSON. */
  answer?: Schema<Answer>;
  /** A body that is accepted; the tests send it. */
  example?: Body;
}

export interface Route<
  Path extends string = string,
  Query = unknown,
  Body = unknown,
  Answer = unknown,
> extends Fields<Path, Query, Body, Answer> {
  run(asked: Asked<Path, Query, Body>): Promise<Answer>;
}

/** Any route of the table. */
export type AnyRoute = Route<string, never, never>;

export const route = <Path extends string, Query = undefined, Body = undefined, Answer = unknown>(
  fields: Fields<Path, Query, Body, Answer>,
  run: (asked: Asked<Path, Query, Body>) => Promise<Answer | Response>,
): AnyRoute => ({ ...fields, run }) as unknown as AnyRoute;
