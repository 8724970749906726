// The messages that an agent accepts. Signals and updates feed the same conversation; a malformed signal is recorded
// as refused and never fails a workflow task.
import { currentUpdateInfo, workflowInfo } from '@temporalio/workflow';
import type { RecoverRequest } from '../../contracts/schemas/agent';
import type { AgentResult } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { toFailure } from '../../contracts/errors/failure';
import { recoverContent, sendContent } from '../../contracts/message-content';
import { AGENT_MESSAGES as MESSAGES } from '../../contracts/messages/to-agents';
import type { RewindRequest } from '../../contracts/schemas/agent';
import type { RewindResult } from '../../contracts/workspaces/rewinds';
import { listenToAnswers } from './agent-approvals';
import type { Conversation } from './conversation/conversation';
import { Listener } from '../messages/listener';
import { messageGuard } from '../messages/message-guard';
import { refuse } from '../messages/refusal';

/** An update without an id uses its own. */
const idOf = ({ id }: { id?: string | undefined }): string | undefined => id ?? currentUpdateInfo()?.id;

function isAlive({ phase, endReason }: Conversation): void {
  if (phase.isEnding) refuse('agent_closed', { reason: endReason });
}

function isTaking({ isDraining }: Conversation): void {
  if (isDraining) refuse('draining', { what: 'The agent' });
}

function isOpen(conversation: Conversation): void {
  isAlive(conversation);
  // What a turn asks for, and what ends it, cannot wait for the next run, which begins after the turn.
  if (!conversation.phase.isWorking) isTaking(conversation);
}

export function listen(conversation: Conversation): void {
  messageGuard().refused = (err) => {
    conversation.refuse(err);
    conversation.show();
  };
  const listener = new Listener({
    admit: (parse) => {
      const request = parse();
      isOpen(conversation);
      return request;
    },
    signalled: (take) => {
      try {
        take();
      } catch (err) {
        conversation.refuse(err);
      }
      conversation.show();
    },
  });

  listenToMessages(listener, conversation);
  listenToRecover(listener, conversation);
  listener.update(MESSAGES.interrupt, async () => {
    await conversation.turnInterrupted();
    return conversation.state();
  });
  listener.signal(MESSAGES.interrupt, () => conversation.interruptTurn());
  listenToRewind(listener, conversation);
  listenToSubAgents(listener, conversation);
  listenToAnswers(conversation);

  listener.query(MESSAGES.state, () => conversation.state());
  listener.query(MESSAGES.taken, (request) => ({ hash: conversation.taken.hashOf(request?.id) }));
  listener.query(MESSAGES.transcript, (request) => conversation.transcript.page(request));
  conversation.show();
}

function listenToMessages(listener: Listener, conversation: Conversation): void {
  const { taken } = conversation;
  listener.update(
    MESSAGES.send,
    async (message) => {
      const take = (): Promise<AgentResult> =>
        new Promise((done) => {
          conversation.take(message, done);
          conversation.show();
        });
      return taken.answer(idOf(message), sendContent(message), take);
    },
    (message) => {
      // So that the queue becomes empty.
      isTaking(conversation);
      taken.check(idOf(message), sendContent(message));
    },
  );
  listener.signal(MESSAGES.send, (message) => {
    // The state's `refused` shows that it was not accepted.
    isAlive(conversation);
    if (taken.isFirst(message.id, sendContent(message))) conversation.take(message);
  });
  listener.signal(MESSAGES.dismiss, ({ turn }) => conversation.dismiss(turn));
  listener.signal(MESSAGES.stop, ({ reason }) => conversation.stop(reason ?? 'it was stopped'));
}

function listenToRecover(listener: Listener, conversation: Conversation): void {
  const { taken } = conversation;
  const recover = (request: RecoverRequest): Promise<void> =>
    taken.isFirst(idOf(request), recoverContent(request))
      ? conversation.recover(request.reason ?? 'it was recovered')
      : Promise.resolve();
  listener.update(
    MESSAGES.recover,
    async (request) => {
      await recover(request);
      return conversation.state();
    },
    (request) => taken.check(idOf(request), recoverContent(request)),
  );
  // A signal is not waited for: what failed is in the state's `refused`.
  listener.signal(MESSAGES.recover, (request) => void recover(request).catch(() => undefined));
}

function listenToRewind(listener: Listener, conversation: Conversation): void {
  let nameless = 0;
  const rewind = async (request: RewindRequest): Promise<RewindResult> => {
    // A signal may have no id: each of these is another one.
    const id = idOf(request) ?? `${workflowInfo().runId}/${(nameless += 1)}`;
    const rewound = await conversation.rewinds.rewind(request, id);
    conversation.show();
    return rewound;
  };
  listener.update(MESSAGES.rewind, rewind);
  listener.signal(MESSAGES.rewind, (request) => {
    isOpen(conversation);
    void rewind(request).catch((err: unknown) => {
      conversation.refuse(err);
      conversation.show();
    });
  });
}

function listenToSubAgents(listener: Listener, conversation: Conversation): void {
  const { agents } = conversation;
  listener.update(
    MESSAGES.spawn,
    async (request) => ({ agentId: await agents.spawn(request) }),
    (request) => agents.check(request),
  );
  listener.update(MESSAGES.waitForAgents, async (request) => {
    try {
      return await agents.wait(request);
    } catch (err) {
      throw err instanceof HoldfastError ? toFailure(err) : err;
    }
  });
  const currentTurn = (): string | null => conversation.state().currentTurn;
  listener.signal(MESSAGES.awaitAgents, (request) => void agents.answerTurn(request, currentTurn));
  listener.signal(MESSAGES.questions, (request) => {
    const { agent, currentTurn: turn } = conversation.state();
    if (!request || !conversation.questions.take(request, agent, turn)) return;
    conversation.publish();
    conversation.questions.notifyTurn(turn, request);
  });
  listener.signal(MESSAGES.agentEnded, ({ agentId, result }) => agents.ended(agentId, result));

  listener.signal(
    MESSAGES.spawnAgents,
    (request) => void agents.spawnForTurn(request, () => isOpen(conversation)),
  );
}
