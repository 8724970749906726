// An agent's `approve` and `deny`: forwarded to the named session, otherwise to the running turn.
import { CancellationScope, condition, getExternalWorkflowHandle } from '@temporalio/workflow';
import type { Approval, ForSession } from '../../contracts/tools/approvals';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { toFailure } from '../../contracts/errors/failure';
import { sessionWorkflowId } from '../../contracts/ids';
import type { Message } from '../../contracts/messages/message';
import { AGENT_MESSAGES } from '../../contracts/messages/to-agents';
import { Listener } from '../messages/listener';
import { messageGuard } from '../messages/message-guard';
import type { Conversation } from './conversation/conversation';

export function listenToAnswers(conversation: Conversation): void {
  const listener = new Listener({
    admit: (parse) => parse(),
    signalled: async (work) => {
      try {
        await work();
      } catch (err) {
        conversation.refuse(err);
      }
    },
  });
  const listenTo = <Request extends Answer>(message: Message<Request, void, 'signal' | 'update'>): void => {
    // An agent that is cancelled forwards what it has accepted: the asker says whether it still matters.
    const take = (answer: Request): Promise<void> =>
      CancellationScope.nonCancellable(() => handOn(conversation, message.name, answer));
    listener.update(message, take);
    listener.signal(message, take);
  };
  listenTo(AGENT_MESSAGES.approve);
  listenTo(AGENT_MESSAGES.deny);
}

type Answer = ForSession<{ id?: string; hash?: string }>;

const unknown = (got: string, allowed: string): Error =>
  toFailure(new HoldfastError('approval_unknown', { got, allowed }));

/** The agent learns of questions by signal, which an answer may overtake. */
const REPORTED_MS = 2_000;

interface Place {
  to: string;
  /** Those that the answer may be for. */
  meant: Approval[];
}

/** Where to forward. Throws `approval_unknown` if nothing is waiting there, and `approval_changed`. */
function placeOf(conversation: Conversation, { session, host, id, hash }: Answer): Place {
  const { agent, host: own, currentTurn } = conversation.state();
  const { open } = conversation.questions;
  const to = session === undefined ? currentTurn : sessionWorkflowId({ agent, host: host ?? own, session });
  const all = open.map((one) => `${one.id} in ${one.workflowId}`).join(', ') || 'none: nothing is waiting';
  const there = open.filter((one) => one.workflowId === to && (id === undefined || one.id === id));
  if (to === null) throw unknown('no running turn', all);
  if (there.length === 0) throw unknown(`${id ?? 'no id'} in ${to}`, all);
  const isOfHash = (one: Approval): boolean => hash === undefined || one.hash === hash;
  const meant = there.filter(isOfHash);
  if (meant.length === 0) {
    const allowed = there.map((one) => one.hash).join(', ');
    throw toFailure(new HoldfastError('approval_changed', { got: hash ?? null, allowed }));
  }
  return { to, meant };
}

/**
 * An answer that leaves open which question it means is refused here, where its sender still waits: the asker could only
 * note it. Throws `approval_unknown` if it may be for several, and `approval_needs_hash`.
 */
function idOfTheOne({ to, meant }: Place, name: string, { hash }: Answer): string | undefined {
  const [one, ...others] = meant;
  const needsHash = name === AGENT_MESSAGES.approve.name && hash === undefined && messageGuard().demandsSeals;
  if (others.length > 0) throw unknown(`no id in ${to}`, meant.map(({ id }) => id).join(', '));
  if (needsHash) throw toFailure(new HoldfastError('approval_needs_hash', { allowed: one?.hash ?? '' }));
  return one?.id;
}

async function handOn(conversation: Conversation, signal: string, request: Answer): Promise<void> {
  await condition(() => isKnown(conversation, request), REPORTED_MS);
  const place = placeOf(conversation, request);
  const id = idOfTheOne(place, signal, request);
  const answer = { ...request, ...(id !== undefined && { id }) };
  delete answer.session;
  delete answer.host;
  try {
    await getExternalWorkflowHandle(place.to).signal(signal, answer);
  } catch {
    throw unknown(place.to, 'a session of this agent, or its running turn');
  }
}

function isKnown(conversation: Conversation, request: Answer): boolean {
  try {
    placeOf(conversation, request);
    return true;
  } catch {
    return false;
  }
}
