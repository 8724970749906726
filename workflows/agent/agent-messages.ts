// The messages that an agent accepts. Signals and updates feed the same conversation; a malformed signal is recorded
// as refused and never fails a workflow task.
import { currentUpdateInfo, setHandler } from '@temporalio/workflow';
import type { AgentResult, RecoverRequest } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { toFailure } from '../../contracts/errors/failure';
import { recoverContent, sendContent } from '../../contracts/message-content';
import {
  agentEndedSchema,
  agentsWaitSchema,
  awaitAgentsSchema,
  interruptSchema,
  recoverSchema,
  sendSchema,
  spawnSchema,
  stopSchema,
} from '../../contracts/schemas/agent';
import { listenToAnswers } from './agent-approvals';
import type { Conversation } from './conversation';
import {
  agentEndedSignal,
  awaitAgentsSignal,
  interruptAgentSignal,
  interruptAgentUpdate,
  questionsSignal,
  recoverSignal,
  recoverUpdate,
  sendSignal,
  sendUpdate,
  spawnUpdate,
  stateQuery,
  stopSignal,
  transcriptQuery,
  waitForAgentsUpdate,
} from './agent-definitions';
import { messageGuard } from '../messages/message-guard';
import { checked, refuse } from '../messages/refusal';

/** An update without an id uses its own. */
const idOf = ({ id }: { id?: string | undefined }): string | undefined => id ?? currentUpdateInfo()?.id;

export function listen(conversation: Conversation): void {
  const { agents, taken, transcript } = conversation;
  messageGuard.refused = (err) => {
    conversation.refuse(err);
    conversation.show();
  };
  const isOpen = (): void => {
    const { isEnding, isDraining, endReason: reason } = conversation;
    if (isEnding) refuse('agent_closed', { reason });
    if (isDraining) refuse('draining', { what: 'The agent' });
  };
  const signalled = (take: () => void): void => {
    try {
      take();
    } catch (err) {
      conversation.refuse(err);
    }
    conversation.show();
  };

  setHandler(
    sendUpdate,
    async (request?) => {
      const message = checked(sendSchema, 'The message', request);
      const take = (): Promise<AgentResult> =>
        new Promise((done) => {
          conversation.take(message, done);
          conversation.show();
        });
      return taken.answer(idOf(message), sendContent(message), take);
    },
    {
      validator: (request?) => {
        const message = checked(sendSchema, 'The message', request);
        isOpen();
        taken.check(idOf(message), sendContent(message));
      },
      description:
        'One more message, answers with the turn\'s result: {"message":"and now?"}; with "mode":"interrupt" it ' +
        'replaces the running turn',
    },
  );
  setHandler(
    sendSignal,
    (request?) =>
      signalled(() => {
        const message = checked(sendSchema, 'The message', request);
        // The state's `refused` shows that it was not accepted.
        if (conversation.isEnding) refuse('agent_closed', { reason: conversation.endReason });
        if (taken.isFirst(message.id, sendContent(message))) conversation.take(message);
      }),
    {
      description:
        'One more message: {"message":"and now?"}, or {"message":"no, rather this","mode":"interrupt"}',
    },
  );
  setHandler(
    stopSignal,
    (request?) =>
      signalled(() =>
        conversation.stop(checked(stopSchema, 'The stop request', request).reason ?? 'it was stopped'),
      ),
    { description: 'End the turn, close the sessions, end the agent: {"reason":"enough"}' },
  );

  const recover = (request: RecoverRequest): Promise<void> =>
    taken.isFirst(idOf(request), recoverContent(request))
      ? conversation.recover(request.reason ?? 'it was recovered')
      : Promise.resolve();
  setHandler(
    recoverUpdate,
    async (request?) => {
      await recover(checked(recoverSchema, 'The recover request', request));
      return conversation.state();
    },
    {
      validator: (request?) => {
        const checkedRequest = checked(recoverSchema, 'The recover request', request);
        isOpen();
        taken.check(idOf(checkedRequest), recoverContent(checkedRequest));
      },
      description: 'End the turn, reset the sessions, keep the conversation: {"reason":"stuck"}',
    },
  );
  setHandler(
    recoverSignal,
    (request?) => signalled(() => void recover(checked(recoverSchema, 'The recover request', request))),
    {
      description: 'End the turn, reset the sessions, keep the conversation: {"reason":"stuck"}',
    },
  );

  const interrupt = (request: unknown): Promise<void> => {
    checked(interruptSchema, 'The interrupt request', request);
    return conversation.interruptTurnAtWork();
  };
  setHandler(
    interruptAgentUpdate,
    async (request?) => {
      await interrupt(request);
      return conversation.state();
    },
    {
      validator: (request?) => {
        checked(interruptSchema, 'The interrupt request', request);
        isOpen();
      },
      description: 'End the turn before its next step; its tools finish, and the next message follows: {}',
    },
  );
  setHandler(interruptAgentSignal, (request?) => signalled(() => void interrupt(request)), {
    description: 'End the turn before its next step; its tools finish, and the next message follows: {}',
  });

  setHandler(
    spawnUpdate,
    async (request?) => ({ agentId: await agents.spawn(checked(spawnSchema, 'The sub-agent', request)) }),
    {
      validator: (request?) => {
        agents.check(checked(spawnSchema, 'The sub-agent', request));
        isOpen();
      },
      description:
        'Start a sub-agent, answers with its id: {"key":"k1","role":"Planner","prompt":"make a plan"}',
    },
  );
  setHandler(
    waitForAgentsUpdate,
    async (request?) => {
      try {
        return await agents.wait(checked(agentsWaitSchema, 'The wait', request));
      } catch (err) {
        throw err instanceof HoldfastError ? toFailure(err) : err;
      }
    },
    {
      validator: (request?) => {
        checked(agentsWaitSchema, 'The wait', request);
        isOpen();
      },
      description: 'Wait for sub-agents: {"agentIds":["a-planner-0"],"mode":"all","timeoutMs":60000}',
    },
  );
  setHandler(awaitAgentsSignal, (request?) =>
    signalled(() => void agents.answerTurn(checked(awaitAgentsSchema, 'The wait of a turn', request))),
  );
  setHandler(questionsSignal, (request?) =>
    signalled(() => {
      if (!request || !conversation.questions.take(request, conversation.state().agent)) return;
      conversation.tell();
      conversation.questions.tellTurn(conversation.state().currentTurn, request);
    }),
  );
  setHandler(agentEndedSignal, (request?) =>
    signalled(() => {
      const { agentId, result } = checked(agentEndedSchema, 'The end of a sub-agent', request);
      agents.ended(agentId, result as AgentResult);
    }),
  );

  listenToAnswers(conversation);

  setHandler(stateQuery, () => conversation.state(), {
    description: 'What it is doing: status, turn, sessions, sub-agents, refused signals; no data',
  });
  setHandler(transcriptQuery, (request?) => transcript.page(request), {
    description: 'The messages of the turns that have ended, in pages: {} or {"from":0,"limit":100}',
  });
  conversation.show();
}
