// An agent's `approve` and `deny`: handed on to the session that is named, else to the turn at work, where it waits.
import { getExternalWorkflowHandle, setHandler } from '@temporalio/workflow';
import type { z } from 'zod/mini';
import { HoldfastError } from '../contracts/errors';
import { toFailure } from '../contracts/failure';
import { sessionWorkflowId } from '../contracts/ids';
import { agentApproveSchema, agentDenySchema } from '../contracts/schemas/approvals';
import {
  approveAgentSignal,
  approveAgentUpdate,
  denyAgentSignal,
  denyAgentUpdate,
} from './agent-definitions';
import { approveSignal, denySignal } from './approvals';
import type { Conversation } from './conversation';
import { checked } from './refusal';

const approve = { signal: approveAgentSignal, update: approveAgentUpdate };
const deny = { signal: denyAgentSignal, update: denyAgentUpdate };

const HOW =
  'to what waits: {"session":0} for a command or a script\'s call there, {} for a call of the turn at work';

export function listenToAnswers(conversation: Conversation): void {
  const kinds = [
    {
      messages: approve,
      schema: agentApproveSchema,
      what: 'The approval',
      signal: approveSignal,
      says: 'Say yes',
    },
    { messages: deny, schema: agentDenySchema, what: 'The refusal', signal: denySignal, says: 'Say no' },
  ] as const;
  for (const { messages, schema, what, signal, says } of kinds) {
    const parse = (request: unknown): Answer => checked(schema as z.ZodMiniType<Answer>, what, request);
    setHandler(messages.update, (request?: object) => handOn(conversation, signal.name, parse(request)), {
      validator: (request?: object) => void parse(request),
      description: `${says} ${HOW}`,
    });
    setHandler(
      messages.signal,
      async (request?: object) => {
        try {
          await handOn(conversation, signal.name, parse(request));
        } catch (err) {
          conversation.refuse(err);
        }
      },
      { description: `${says} ${HOW}` },
    );
  }
}

type Answer = { session?: number | undefined; host?: string | undefined } & Record<string, unknown>;

async function handOn(
  conversation: Conversation,
  signal: string,
  { session, host, ...answer }: Answer,
): Promise<void> {
  const { agent, host: own, currentTurn } = conversation.state();
  const to = session === undefined ? currentTurn : sessionWorkflowId({ agent, host: host ?? own, session });
  const unknown = (got: string): Error =>
    toFailure(
      new HoldfastError('approval_unknown', { got, allowed: 'a session of this agent, or its turn at work' }),
    );
  if (to === null) throw unknown('no turn at work');
  try {
    await getExternalWorkflowHandle(to).signal(signal, answer);
  } catch {
    throw unknown(to);
  }
}
