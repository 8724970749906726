// Sessions: run code, type, read, wait, end.
import { commandView, sessionState, waitResult } from '../../contracts/schemas/answers';
import * as shapes from '../../contracts/schemas/http-api';
import type { InputRequest } from '../../contracts/schemas/session';
import type { SessionHandle } from '../../client/session-handle';
import { mayUse, requireAgent } from '../access/grants';
import type { GatewayContext } from '../gateway-context';
import { route, type Params } from '../http/route';
import { whileAllowed } from '../http/while-allowed';

const tag = 'sessions';
const PATH = '/v1/sessions/{agent}/{host}/{session}';

const handleOf = (context: GatewayContext, { agent, host, session }: Params<typeof PATH>): SessionHandle =>
  context.client.session({ agent, host, session: Number(session) });

const list = route(
  {
    name: 'listSessions',
    ...{ method: 'GET', path: '/v1/sessions', tag, role: 'viewer' },
    summary: 'Open sessions, on any host, and what each is doing',
    query: shapes.ofAgentQuery,
    answer: shapes.sessionList,
  },
  async ({ query, caller, context }) => {
    if (query.agent !== undefined) requireAgent(caller, query.agent);
    const { sessions, unread } = await context.client.sessions.listReadable(query);
    return { items: sessions.filter(({ agent }) => mayUse(caller, agent)), next: null, unread };
  },
);

const look = route(
  {
    name: 'getSession',
    ...{ method: 'GET', path: PATH, tag, role: 'viewer' },
    summary: 'What a session is doing; of a closed one, what it did last',
    answer: sessionState,
  },
  ({ params, context }) => handleOf(context, params).state(),
);

const exec = route(
  {
    name: 'execCode',
    ...{ method: 'POST', path: `${PATH}/exec`, tag, role: 'operator', takesKey: true },
    summary: 'Run code, opening the session if needed; answers at its end or its yield',
    description:
      'The header Idempotency-Key is the command’s id: the same again answers the same and runs nothing. A command that ' +
      'needs an approval begins, and its yield counts, after it: who cannot wait so long asks again with the same key.',
    body: shapes.execBody,
    answer: commandView,
    example: { code: 'ls -la' },
  },
  async ({ params, body, key, context }) => {
    // It would open a session without a host that serves it.
    if (!context.isLocal(params.host)) await context.client.hosts.require(params.host);
    const session = handleOf(context, params);
    try {
      return await session.exec(body, key);
    } catch (err) {
      throw await session.withRecent(err);
    }
  },
);

const input = route(
  {
    name: 'typeInput',
    ...{ method: 'POST', path: `${PATH}/input`, tag, role: 'operator', takesKey: true },
    summary: 'Type into the running process; answers when it has reacted',
    body: shapes.inputBody,
    isSecret: true,
    answer: commandView,
    example: { keyboard: 'Y' },
  },
  ({ params, body, key, context }) => handleOf(context, params).input(body as InputRequest, key),
);

const output = route(
  {
    name: 'getOutput',
    ...{ method: 'GET', path: `${PATH}/output`, tag, role: 'viewer' },
    summary: 'The output as a model reads it: rendered, at most as long as asked',
    description: 'Each request is one message of the session’s history; `log` is for those who read a lot.',
    query: shapes.outputQuery,
    answer: commandView,
  },
  ({ params, query, context }) => handleOf(context, params).output(query),
);

const wait = route(
  {
    name: 'waitForSessions',
    ...{ method: 'POST', path: `${PATH}/wait`, tag, role: 'viewer', takesKey: true },
    summary: 'Wait for this and other sessions of the same agent and host',
    description:
      'A token may have 20 waits. One that its client has left ends within 5 minutes; the same again, with the same ' +
      'Idempotency-Key, goes on with it.',
    body: shapes.waitBody,
    answer: waitResult,
    example: { for: 'exit' as const, waitMs: 10_000 },
  },
  (asked) =>
    whileAllowed(asked, (refused) => {
      const { params, body, key, caller, context, signal } = asked;
      const goesOn = (): boolean => (refused.throwIfAborted(), !signal.aborted);
      return context.waits.wait(handleOf(context, params), body, { caller: caller.id, key, goesOn });
    }),
);

const reset = route(
  {
    name: 'resetSession',
    ...{ method: 'POST', path: `${PATH}/reset`, tag, role: 'operator', takesKey: true },
    summary: 'End everything that runs here; the next command gets a fresh shell',
    body: shapes.reasonBody,
    answer: commandView,
    example: { reason: 'it hangs' },
  },
  ({ params, body, key, context }) => handleOf(context, params).reset(body, key),
);

const close = route(
  {
    name: 'closeSession',
    ...{ method: 'POST', path: `${PATH}/close`, tag, role: 'operator', status: 202 },
    summary: 'End everything that runs here and the session itself',
    body: shapes.reasonBody,
    answer: shapes.accepted,
    example: { reason: 'done' },
  },
  async ({ params, body, context }) => {
    const session = handleOf(context, params);
    await session.close(body.reason ?? 'closed by request');
    return { id: session.workflowId };
  },
);

export const SESSION_ROUTES = [list, look, exec, input, output, wait, reset, close];
