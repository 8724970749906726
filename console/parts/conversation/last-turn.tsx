// How the last turn of an agent ended, if not with an answer: why, and what can be done.
import type { VNode } from 'preact';
import type { AgentResult, EndReason } from '../../../contracts/agents/agent';
import { ExactText } from '../../text/exact-text';

/** In words. */
export const WHY: Record<Exclude<EndReason, 'answered'>, string> = {
  step_limit: 'it took as many steps as it may',
  time_limit: 'it took as long as it may',
  size_limit: 'its conversation is as large as it may be',
  token_limit: 'it used as many tokens as it may',
  cost_limit: 'it cost as much as it may',
  format_error: 'the model did not reply in a form that can be read',
  model_error: 'the model gave no reply',
  interrupted: 'it was interrupted',
  recovered: 'the agent was recovered',
  stopped: 'the agent was stopped',
};
/** What a person has asked for is no failure. */
const WANTED: readonly EndReason[] = ['interrupted', 'recovered', 'stopped'];

interface LastTurnProps {
  result: AgentResult;
  /** Offers to try again, and to put it away; null: a person has put it away. */
  answer: VNode | null;
  isEnded: boolean;
}

export function LastTurn({ result: { reason, error }, isEnded, answer }: LastTurnProps): VNode | null {
  if (reason === 'answered') return null;
  if (WANTED.includes(reason)) return <p class="quiet">The last turn has ended: {WHY[reason]}.</p>;
  const next = isEnded ? 'Fork it at a message to go on from there.' : 'Send a message to go on.';
  return (
    <article class="card failed" aria-label="The last turn has failed">
      <h2>The last turn has ended without an answer: {WHY[reason]}.</h2>
      {error && <Failure message={error.message} />}
      <p class="quiet">{next}</p>
      {answer}
    </article>
  );
}

/** The text of an error, whose last sentences say what can be done. */
function Failure({ message }: { message: string }): VNode {
  const at = message.lastIndexOf(NEXT);
  const [what, next] = at < 0 ? [message, ''] : [message.slice(0, at), message.slice(at + NEXT.length)];
  return (
    <p>
      <ExactText text={what} />{' '}
      <span class="quiet">
        <ExactText text={next} />
      </span>
    </p>
  );
}

const NEXT = ' Next: ';
