// Serves the table of routes: who may, what was given, what came of it. The only place where errors leave the gateway.
import { randomBytes } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { MetricMeter } from '@temporalio/common';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { inTrace, newTrace } from '../../client/delivery/traced-client';
import { readTraceparent } from '../../contracts/telemetry/trace';
import { count, observe } from '../../contracts/telemetry/metrics';
import { requireAgent, requireRole, type Caller } from '../access/grants';
import { callerOf } from '../access/who';
import type { GatewayContext } from '../gateway-context';
import { refusalOf, SECURITY_HEADERS, type FrontDoor } from './front-door';
import { PROBLEM_TYPE, problemOf, type Problem } from './problem';
import { checkedBody, checkedKey, checkedParams, checkedQuery } from './read-request';
import type { AnyRoute, Asked, Route } from './route';
import { dropRest } from './limit-requests';

export const REQUEST_FAILED = 'a request failed';

export type App = Hono<{ Bindings: HttpBindings }>;
type AppContext = Context<{ Bindings: HttpBindings }>;

/** Asked by address, as Kubernetes does. They say nothing that is worth a name. */
export const HEALTH = '/healthz';
export const READINESS = '/readyz';
/** A message may have 1 MiB as JSON. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** The largest body of somebody without a token. */
const MAX_STRANGERS_BYTES = 16 * 1024;

export function createApp(door: FrontDoor): App {
  const app: App = new Hono();
  app.use(async (c, next) => {
    const { method, headers } = c.env.incoming;
    const isProbe = c.req.path === HEALTH || c.req.path === READINESS;
    const reason = isProbe ? undefined : refusalOf({ ...door, method: method ?? '', headers });
    if (reason === undefined) await next();
    else c.res = answerProblem(c, problemOf(new HoldfastError('request_refused', { reason })));
    // Images have a stricter policy of their own.
    for (const [name, value] of Object.entries(SECURITY_HEADERS))
      if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  });
  app.onError((err, c) => answerProblem(c, problemOf(err)));
  // No route has run: unlike what a workflow says of a message, this had no effect.
  app.notFound((c) => answerProblem(c, { ...problemOf(unknownPath(c.req.path)), effect: 'none' }));
  return app;
}

/** It may have to read the body, and then keeps it for `read`. */
async function isTooLarge(c: AppContext, maxSize: number): Promise<boolean> {
  let isLarger = false;
  const onError = (): Response => ((isLarger = true), c.body(null));
  await bodyLimit({ maxSize, onError })(c as Context<{ Bindings: HttpBindings }, string>, () =>
    Promise.resolve(),
  );
  return isLarger;
}

/** `/v1/agents/{agent}` as Hono writes it. */
export const honoPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

export function serveRoutes(app: App, routes: readonly AnyRoute[], context: GatewayContext): void {
  for (const route of routes) {
    app.on(route.method, honoPath(route.path), (c) => serveTraced(c, route, context));
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = routes.filter((route) => route.path === path).map((route) => route.method);
    app.all(honoPath(path), (c) => {
      const problem = { ...problemOf(wrongMethod(c.req.method, path, methods)), status: 405 };
      const answer = answerProblem(c, problem);
      answer.headers.set('Allow', methods.join(', '));
      return answer;
    });
  }
}

/**
 * Requests that change something have a span, in the trace of `traceparent` or a new one. Those that look are many: they
 * have one only if asked for.
 */
async function serveTraced(c: AppContext, route: AnyRoute, context: GatewayContext): Promise<Response> {
  const parent = context.reportSpan ? readTraceparent(c.req.header('traceparent')) : undefined;
  if (!context.reportSpan || (route.method === 'GET' && !parent)) return serve(c, route, context);
  const { traceId, spanId: parentSpanId } = parent ?? newTrace();
  const span = { traceId, spanId: randomBytes(8).toString('hex') };
  const startMs = Date.now();
  const answer = await inTrace(span, () => serve(c, route, context));
  const { status } = answer;
  context.reportSpan({
    ...{
      ...span,
      parentSpanId,
      name: `${route.method} ${route.path}`,
      kind: 'server',
      startMs,
      endMs: Date.now(),
    },
    attributes: {
      'http.request.method': route.method,
      'http.route': route.path,
      'http.response.status_code': status,
    },
    error: status >= 500 ? String(status) : undefined,
  });
  return answer;
}

async function serve(c: AppContext, route: AnyRoute, context: GatewayContext): Promise<Response> {
  const what = `${route.method} ${route.path}`;
  const began = performance.now();
  // A request whose body is no longer read loses its connection.
  const from = addressOf(c);
  const maxBytes = route.role === 'none' ? MAX_STRANGERS_BYTES : MAX_BODY_BYTES;
  let caller: Caller | undefined;
  let status: number | undefined;
  let answer: Response;
  let problem: Problem | undefined;
  try {
    if (route.role !== 'none') {
      caller = await callerOf(c.env.incoming.headers, context);
      requireRole(caller, route.role, what);
    }
    // Not before: strangers, however many, must not fill the memory.
    if (!route.takesBytes && (await isTooLarge(c, maxBytes))) {
      status = 413;
      throw tooLarge(maxBytes);
    }
    const asked = await read(c, route, { caller: caller ?? NO_CALLER, context, from });
    const given = await (route as unknown as Route).run(asked);
    answer = given === undefined ? c.body(null, 204) : answerWith(c, given, route.status ?? 200);
  } catch (err) {
    problem = { ...problemOf(err), ...(status && { status }) };
    answer = answerProblem(c, problem);
    if (problem.status >= 500)
      context.log.warn(REQUEST_FAILED, {
        request: what,
        status: problem.status,
        code: problem.code,
        reason: problem.detail,
      });
  }
  if (context.meter) reportRequest(context.meter, route, answer.status, performance.now() - began);
  if (route.method !== 'GET' && (problem || !route.audits))
    context.audit.write({
      who: caller?.id ?? null,
      name: caller?.name ?? null,
      from,
      what,
      path: c.req.path,
      status: answer.status,
      ...(problem && { code: problem.code }),
    });
  if (route.takesBytes && !c.env.incoming.complete) dropRest(c.env.incoming);
  // Hono answers HEAD as GET, without the body: a stream without a reader would stay open.
  if (c.req.raw.method === 'HEAD') await answer.body?.cancel();
  return answer;
}

function reportRequest(
  meter: MetricMeter,
  { method, path: route }: AnyRoute,
  status: number,
  ms: number,
): void {
  count(meter, 'holdfast_http_requests', { method, route, status: String(status) });
  observe(meter, 'holdfast_http_request_duration_seconds', { route }, ms / 1_000);
}

/** A route may make the whole answer itself: bytes, a stream of events. */
const answerWith = (c: AppContext, given: unknown, status: number): Response =>
  given instanceof Response ? given : c.json(given as object, status as ContentfulStatusCode, NOT_STORED);

/** Somebody without a token covers no agent. */
const NO_CALLER: Caller = { id: '', name: 'nobody', role: 'viewer', agents: [], expiresAt: null };

const NOT_STORED = { 'Cache-Control': 'no-store' };

async function read(
  c: AppContext,
  route: AnyRoute,
  { caller, context, from }: { caller: Caller; context: GatewayContext; from: string },
): Promise<Asked<string, unknown, unknown>> {
  const params = checkedParams(c.req.param());
  if (params.agent !== undefined) requireAgent(caller, params.agent);
  const query = checkedQuery(route, c.req.query());
  const text = route.method === 'GET' || route.takesBytes ? '' : await c.req.text();
  const type = c.req.header('Content-Type') ?? '';
  if (text.trim() !== '' && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type))
    throw new HoldfastError('invalid_input', {
      what: 'The header Content-Type',
      got: JSON.stringify(type),
      allowed: 'application/json',
    });
  const body = checkedBody(route, text);
  const key = checkedKey(c.req.header('Idempotency-Key'));
  const { incoming } = c.env;
  const connection = { address: from, headers: incoming.headers, incoming };
  return { params, query, body, key, caller, context, signal: c.req.raw.signal, connection };
}

/** Of the connection: what a proxy in front of us says is not to be trusted. */
const addressOf = (c: AppContext): string => c.env.incoming.socket.remoteAddress ?? 'unknown';

function answerProblem(c: AppContext, problem: Problem): Response {
  const { status } = problem;
  const headers: Record<string, string> = { 'Content-Type': PROBLEM_TYPE, ...NOT_STORED };
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer realm="holdfast"';
  if (problem.code === 'range_unsatisfiable')
    headers['Content-Range'] = `bytes */${String(problem.facts.size)}`;
  if (problem.code === 'too_many_requests') headers['Retry-After'] = String(problem.facts.seconds);
  return c.body(JSON.stringify(problem), status as ContentfulStatusCode, headers);
}

const tooLarge = (maxBytes: number): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'The body',
    got: `more than ${maxBytes} bytes`,
    allowed: `${maxBytes} bytes`,
    next: 'Write it to a file on the host, and name the file.',
  });

const unknownPath = (path: string): HoldfastError =>
  new HoldfastError('not_found', {
    what: 'This path',
    got: path,
    allowed: 'the paths of /openapi.json',
    next: 'See docs/api.md.',
  });

const wrongMethod = (method: string, path: string, allowed: string[]): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: `The method for ${path}`,
    got: method,
    allowed: allowed.join(', '),
    next: 'See docs/api.md.',
  });
