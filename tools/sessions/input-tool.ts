// The tool `input`: types into the process that is waiting in a session.
import * as z from 'zod/mini';
import { LOCAL_HOST } from '../../contracts/ids';
import { idSchema, inputSchema, keyboardSchema, sessionNumber } from '../../contracts/schemas/session';
import { AGENT_READER, refuseOwnSession, type Tool } from '../tool';
import { inputCall } from './call-id';
import { REMOTE_TOOL, seenText, viewText } from './view-text';

const argsSchema = z
  .strictObject({
    session: z._default(sessionNumber, 0),
    keyboard: z.optional(keyboardSchema),
    keys: inputSchema.shape.keys,
    host: z.optional(idSchema),
  })
  .check(
    // A forgotten text is not an Enter: it could answer a question that was not read.
    z.refine<{ keyboard?: string | undefined; keys?: readonly string[] | undefined }>(
      ({ keyboard, keys }) => keyboard !== undefined || (keys?.length ?? 0) > 0,
      { error: 'got neither "keyboard" nor "keys", allowed one of them; "keyboard": "" is Enter alone' },
    ),
  );

export const inputTool: Tool<z.infer<typeof argsSchema>> = {
  name: 'input',
  description:
    'Types "keyboard" and Enter into the process that is waiting for input in a session; an empty text is just Enter. ' +
    'Name control keys in "keys", for example ["ctrl-c"]. It never starts a command. ' +
    '"host" only for a session of code_execution_remote: the name at the beginning of its result.',
  args: argsSchema,
  argumentRoles: { session: 'session', typed: 'keyboard' },
  session: ({ session, host }) => (host === undefined ? session : undefined),
  secret: true,
  effects: 'idempotent',
  async run({ session, keyboard, keys, host: named }, context) {
    const { client, agent, settings, caller } = context;
    const { yield: yielding, host: own = LOCAL_HOST } = settings;
    const host = named ?? own;
    if (host === own) refuseOwnSession({ caller }, session);
    const typed = { ...(keyboard !== undefined && { keyboard }), ...(keys && { keys }) };
    const request = { ...typed, reader: AGENT_READER, ...(yielding && { yield: yielding }) };
    const view = await inputCall(client.session({ agent, host, session }), request, context);
    return host === own ? seenText(context, view) : viewText(view, { through: REMOTE_TOOL, host });
  },
};
