// The tool `connect_tools`: scripts on the other side of an ssh in a session can call tools.
import * as z from 'zod/mini';
import { sessionNumber } from '../../contracts/schemas/session';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { hostOf, refuseOwnSession, type Tool } from '../tool';

const argsSchema = z.strictObject({
  session: z
    ._default(sessionNumber, 0)
    .check(z.describe('The session in which the remote shell is waiting.')),
});

export const connectToolsTool: Tool<z.infer<typeof argsSchema>> = {
  name: 'connect_tools',
  description:
    'Lets scripts call tools where only the terminal of a session reaches: start ssh -t or docker exec -it in the ' +
    'session, and call this when a POSIX shell with python3 is at its prompt there. It types what is needed. ' +
    'Scripts there then have codex_tools (Python) and the command tool, until that shell ends.',
  args: argsSchema,
  argumentRoles: { session: 'session' },
  session: ({ session }) => session,
  effects: 'idempotent',
  runsOn: 'host',
  async run({ session }, context) {
    refuseOwnSession(context, session);
    const { name, connectTools } = hostOf(context);
    if (!connectTools) throw new HoldfastError('internal', { reason: `host ${name} has no terminals` });
    await connectTools({ agent: context.agent, host: name, session }, context.signal);
    return `Scripts in the shell of session ${session} can call tools now.`;
  },
};
