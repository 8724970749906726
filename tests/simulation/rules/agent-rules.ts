// What holds of agents and their turns.
import type { SendRequest } from '../../../contracts/schemas/agent';
import type { AgentResult, AgentState, TurnInput } from '../../../contracts/agents/agent';
import { hasFailed } from '../../../contracts/agents/failures';
import { valuesOf } from '../server/payloads';
import { answerTo } from '../world/agent-activities';
import type { World } from '../world/world';
import { firstOf, firstRepeated, hasEnded, type Rule } from './rule';

/** The messages of all turns, in the order in which these began. */
function turnedMessages({ server }: World, agent: string): string[] {
  return [...server.workflows.entries()].flatMap(([workflowId, runs]) => {
    if (!workflowId.startsWith(`${agent}/turn/`)) return [];
    // Continued as new, it is the same turn; another agent of that name has its own.
    return runs
      .filter(({ start }) => start.continuedFrom === undefined)
      .map(({ start }) => (valuesOf(start.args)[0] as TurnInput).message);
  });
}

/** Each message that an agent took, by update or by signal, with the agent. */
function acceptedMessages({ facts }: World): Map<string, string> {
  const accepted = facts.of('accepted');
  const asked = facts
    .of('asked')
    .filter(
      ({ message, of, content }) =>
        message === 'send' && accepted.some((one) => one.of === of && one.id === idOf(content)),
    );
  const signalled = facts.of('signalled').filter(({ name }) => name === 'send');
  return new Map([...asked, ...signalled].map(({ content, of }) => [(content as SendRequest).message, of]));
}

const idOf = (content: unknown): string | undefined => (content as SendRequest).id;

export const AGENT_RULES: readonly Rule[] = [
  {
    name: 'each accepted message is one turn',
    broken: (world) =>
      firstOf([...acceptedMessages(world)], ([message, of]) => {
        if (hasEnded(world, of)) return undefined;
        const turns = turnedMessages(world, of).filter((one) => one === message).length;
        return turns === 1 ? undefined : `"${message}" was accepted, and had ${turns} turns`;
      }),
  },
  {
    name: 'a message is answered with the answer of its own turn',
    broken: ({ facts }) =>
      firstOf(facts.of('asked'), ({ message: name, content, request }) => {
        if (name !== 'send') return undefined;
        const answer = facts.of('answered').find((one) => one.request === request)?.answer;
        const result = answer?.is === 'done' ? (answer.value as AgentResult) : undefined;
        if (result?.reason !== 'answered') return undefined;
        const wanted = answerTo((content as SendRequest).message);
        return result.answer === wanted ? undefined : `${request} got "${result.answer}"`;
      }),
  },
  {
    name: 'no tool of a call has its effect twice',
    broken: ({ facts }) => {
      const again = firstRepeated(facts.of('effect').map(({ key }) => key));
      return again && `${again} had its effect twice`;
    },
  },
  {
    name: 'a held call has its effect only with an approval for what was shown',
    broken: ({ facts }) =>
      firstOf(facts.of('effect'), (effect) => {
        if (!effect.isHeld) return undefined;
        const at = facts.placeOf(effect);
        const isApproved = facts
          .of('decided')
          .some(
            (one) =>
              one.approved &&
              facts.placeOf(one) < at &&
              ((one.question === effect.question && !one.hash.startsWith('another')) || one.lasting),
          );
        return isApproved ? undefined : `${effect.key} had its effect without an approval`;
      }),
  },
  {
    name: 'an agent at rest waits for a message, and nothing of it runs',
    broken: async (world) => {
      const turn = world.open('turn')[0];
      if (turn) return `${turn.workflowId} still runs`;
      for (const run of world.open('agent')) {
        const state = await world.stateOfAgent(run);
        const left = state ? leftOf(state) : 'a state that cannot be asked for';
        if (left !== undefined) return `${run.workflowId} has ${left}`;
      }
      return undefined;
    },
  },
  {
    name: 'nothing of an agent stays when it has ended',
    broken: ({ server }) =>
      firstOf([...server.workflows.keys()], (workflowId) => {
        const [kind, name = '', ...rest] = workflowId.split('/');
        if (kind !== 'agent' || rest.length > 0 || server.open(workflowId)) return undefined;
        const closing = server.latest(workflowId)?.closing;
        if (closing?.how === 'Terminated') return undefined;
        const left = [...server.workflows.keys()].find(
          (other) => other !== workflowId && other.startsWith(`agent/${name}-`) && server.open(other),
        );
        return left && `${left} runs, and its parent ${workflowId} has ended`;
      }),
  },
];

function leftOf({
  status,
  queued,
  currentTurn,
  approvals,
  waits,
  lastResult,
}: AgentState): string | undefined {
  if (currentTurn !== null) return `the turn ${currentTurn}`;
  if (queued > 0) return `${queued} messages in its queue`;
  if (approvals.length > 0) return `the approval ${approvals[0]?.id} waiting`;
  const wanted = hasFailed(lastResult) ? ['message', 'retry'] : ['message'];
  return waits && wanted.includes(waits.for)
    ? undefined
    : `the status ${status}, and waits for ${waits?.for ?? 'nothing'}`;
}
