// The tool `input`: types into the process that waits in a session.
import * as z from 'zod/mini';
import { LOCAL_HOST } from '../contracts/ids';
import { idSchema, inputSchema, keyboardSchema, sessionNumber } from '../contracts/schemas/session';
import { AGENT_READER, refuseOwnSession, type Tool } from './tool';
import { viewText } from './view-text';

const argsSchema = z.strictObject({
  session: z._default(sessionNumber, 0),
  keyboard: z.optional(keyboardSchema),
  keys: inputSchema.shape.keys,
  host: z.optional(idSchema),
});

export const inputTool: Tool<z.infer<typeof argsSchema>> = {
  name: 'input',
  description:
    'Types "keyboard" and Enter into the process that waits for input in a session; an empty text is just Enter. ' +
    'Control keys go by name in "keys", for example ["ctrl-c"]. It never starts a command. ' +
    '"host" only for a session of code_execution_remote: the name that its result began with.',
  args: argsSchema,
  secret: true,
  effects: 'idempotent',
  async run({ session, keyboard, keys, host: named }, { client, agent, settings, key, caller }) {
    const { yield: yielding, host: own = LOCAL_HOST } = settings;
    const host = named ?? own;
    if (host === own) refuseOwnSession({ caller }, session);
    const request = { ...(keyboard !== undefined && { keyboard }), ...(keys && { keys }) };
    const view = await client
      .session({ agent, host, session })
      .input({ ...request, reader: AGENT_READER, ...(yielding && { yield: yielding }) }, key);
    return viewText(view);
  },
};
