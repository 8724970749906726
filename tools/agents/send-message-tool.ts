// The tool `send_message`: one more message for a sub-agent.
import * as z from 'zod/mini';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { Tool } from '../tool';
import { ownSubAgent } from './sub-agent';

const argsSchema = z.strictObject({
  agent_id: z.string(),
  message: z.string().check(z.minLength(1)),
  mode: z._default(z.enum(['queue', 'interrupt']), 'queue'),
});

export const sendMessageTool: Tool<z.infer<typeof argsSchema>> = {
  name: 'send_message',
  description:
    'Sends one more message to a running sub-agent. "mode": "queue" (the default) lets it finish its current ' +
    'task first; "interrupt" makes it handle the message at once. The answer to its last message is its result.',
  args: argsSchema,
  effects: 'once',
  async run({ agent_id: agentId, message, mode }, context) {
    const { status } = await ownSubAgent(context, agentId);
    if (status === 'ended')
      throw new HoldfastError('agent_closed', { reason: `the sub-agent ${agentId} has ended` });
    await context.client.agent(agentId).post(message, { mode });
    return `Sent to ${agentId}.`;
  },
};
