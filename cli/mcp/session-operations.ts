// Sessions, for MCP clients.
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import {
  execSchema,
  idSchema,
  inputSchema,
  outputSchema,
  resetSchema,
  sessionInputSchema,
  sessionNumber,
  waitRequestSchema,
} from '../../contracts/schemas/session';
import type { ExecRequest, InputRequest, OutputRequest, WaitRequest } from '../../contracts/schemas/session';
import type { CommandView } from '../../contracts/sessions/session';
import { isLocal } from '../context';
import { factsOf } from '../print/view-facts';
import { allWork } from '../print/work';
import { heldAnswer, viewOrHeld } from './held-command';
import { ownSession } from './own-session';
import { asJson, operation, type Answer, type Operation } from './operation';

/** Owner of the sessions when the client names no agent. */
const MCP_AGENT = 'mcp';
/** Most clients give up a call after a minute, and would never see the answer. */
const PATIENCE_MS = 50_000;
const QUICK = { firstOutputMs: 30_000, betweenOutputMs: 15_000, maxMs: PATIENCE_MS };

const address = {
  agent: z._default(idSchema, MCP_AGENT),
  host: z.optional(idSchema),
  session: z.optional(sessionNumber),
};

function viewed(view: CommandView): Answer {
  const gap = view.output === '' || view.output.endsWith('\n') ? '' : '\n';
  return { text: `${view.output}${gap}[${factsOf(view)}]`, structured: { ...view } };
}

/** Requests without the optional keys that were left out. */
const request = <T>(given: object): T =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;

export const SESSION_OPERATIONS: readonly Operation[] = [
  operation({
    name: 'exec',
    description:
      'Runs code in a persistent terminal session, in the folder of this client, and answers at its end, or earlier if it ' +
      'takes long or waits for input: it then keeps running, and "output", "wait" and "input" follow it. If it needs an approval that nobody gives ' +
      'within some seconds, the answer says so. A cancelled call leaves it running.',
    args: z.extend(execSchema, { ...address, cwd: sessionInputSchema.shape.cwd }),
    isReadOnly: false,
    async run({ agent, host, session, cwd, id = randomUUID(), ...command }, context) {
      const wanted = host ?? context.host;
      if (!isLocal(context, wanted)) await context.client.hosts.require(wanted);
      const shell = await ownSession(context, { agent, host, session }, cwd);
      const wish = request<ExecRequest>({ ...command, yield: { ...QUICK, ...command.yield } });
      const result = await viewOrHeld(shell.exec(wish, id), context, { shell, id });
      return 'view' in result ? viewed(result.view) : heldAnswer(result.held, { context, shell, id });
    },
  }),
  operation({
    name: 'output',
    description: 'Shows the output and state of a session; with "wait" it waits for something first.',
    args: z.extend(outputSchema, address),
    isReadOnly: true,
    async run({ agent, host, session, ...what }, context) {
      const wanted = { waitMs: PATIENCE_MS, ...request<OutputRequest>(what) };
      const shell = await ownSession(context, { agent, host, session });
      return viewed(await shell.output(wanted));
    },
  }),
  operation({
    name: 'input',
    description:
      'Types "keyboard" and Enter into the process running in a session, or presses "keys" such as ["ctrl-c"].',
    args: z.extend(inputSchema, address),
    secret: true,
    isReadOnly: false,
    async run({ agent, host, session, id, ...typed }, context) {
      const shell = await ownSession(context, { agent, host, session });
      return viewed(
        await shell.input(request<InputRequest>({ ...typed, yield: { ...QUICK, ...typed.yield } }), id),
      );
    },
  }),
  operation({
    name: 'reset',
    description: 'Ends everything running in a session; its next command gets a fresh shell.',
    args: z.extend(resetSchema, address),
    isReadOnly: false,
    async run({ agent, host, session, id, reason }, context) {
      const shell = await ownSession(context, { agent, host, session });
      return viewed(await shell.reset(reason === undefined ? {} : { reason }, id));
    },
  }),
  operation({
    name: 'wait',
    description:
      'Waits for one or several sessions at once: for "exit", "output", "idle", "needs_input", "pattern:RE".',
    args: z.extend(waitRequestSchema, address),
    isReadOnly: true,
    async run({ agent, host, session: asked, ...what }, context) {
      // The session asked must exist: any of those waited for does.
      const [first] = what.sessions ?? [];
      const session = asked ?? (typeof first === 'object' ? first.session : first);
      const wanted = { waitMs: PATIENCE_MS, ...request<WaitRequest>(what) };
      const shell = await ownSession(context, { agent, host, session });
      const result = await shell.wait(wanted);
      const lines = result.sessions.map(
        ({ reason, view }) => `session ${view.session}: ${reason}; ${factsOf(view)}`,
      );
      return { text: lines.join('\n'), structured: { ...result } };
    },
  }),
  operation({
    name: 'list',
    description: 'Lists the open agents, turns and sessions, and what each is doing and waiting for.',
    args: z.strictObject({ ended: z._default(z.boolean(), false) }),
    isReadOnly: true,
    run: async ({ ended }, context) => asJson({ work: await allWork(context, { ended }) }),
  }),
];
