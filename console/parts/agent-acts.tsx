// What a person does with an agent. What ends something asks first, and everything says what came of it.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { AgentOverview } from '../../contracts/agents/agent';
import { useAction } from '../api/actions';
import { pathOf } from '../api/call-api';
import { once } from '../api/once';
import { Cancel, Dialog, ProblemNote } from './notes';

interface Act {
  name: string;
  path: 'interrupt' | 'recover' | 'stop';
  question: string;
  /** On the button that does it. */
  yes: string;
  /** What came of it. */
  outcome: string;
  isDangerous?: true;
}

const ACTS: readonly Act[] = [
  {
    ...{ name: 'Interrupt', path: 'interrupt', yes: 'End the turn' },
    question:
      'End the running turn before its next step? Tools that run may finish, and what is queued comes next.',
    outcome: 'The turn has ended. The conversation goes on with the next message.',
  },
  {
    ...{ name: 'Recover', path: 'recover', yes: 'End the turn and reset' },
    question:
      'End the running turn, and everything that runs in its sessions? The conversation goes on with fresh shells.',
    outcome:
      'The turn has ended, and its sessions were reset. The conversation goes on with the next message.',
  },
  {
    ...{ name: 'Stop', path: 'stop', yes: 'Stop the agent', isDangerous: true },
    question: 'End the turn, close the sessions and end the agent? It takes no more messages after that.',
    outcome: 'The agent is asked to stop: it ends its turn and closes its sessions.',
  },
];

/** For those who may act. What came of the last one stays until the next. */
export function AgentActs({ state, isEnded }: { state: AgentOverview; isEnded: boolean }): VNode {
  const { agent, currentTurn, turns } = state;
  const { isRunning, problem, run } = useAction();
  const asking = useSignal<Act | null>(null);
  const shown = useSignal('');
  const perform = async ({ path, outcome }: Act): Promise<void> => {
    asking.value = null;
    shown.value = '';
    const isDone = await run(() => once(`${pathOf('agents', agent)}/${path}`, {}, turns));
    if (isDone) shown.value = outcome;
  };
  return (
    <>
      {!isEnded && (
        <span class="acts">
          {ACTS.map((act) => (
            <button
              key={act.path}
              type="button"
              class={act.isDangerous && 'danger'}
              disabled={isRunning.value || (act.path === 'interrupt' && currentTurn === null)}
              onClick={() => (asking.value = act)}
            >
              {act.name}
            </button>
          ))}
        </span>
      )}
      {asking.value && (
        <Question act={asking.value} onYes={(act) => void perform(act)} onNo={() => (asking.value = null)} />
      )}
      <p class="outcome" role="status">
        {isRunning.value ? 'Asked; waiting for the answer…' : shown}
      </p>
      <ProblemNote problem={problem.value} />
    </>
  );
}

interface QuestionProps {
  act: Act;
  onYes: (act: Act) => void;
  onNo: () => void;
}

const Question = ({ act, onYes, onNo }: QuestionProps): VNode => (
  <Dialog title={act.question} onClose={onNo}>
    <div class="answer">
      <button type="button" class={act.isDangerous ? 'danger' : 'main'} onClick={() => onYes(act)}>
        {act.yes}
      </button>
      <Cancel />
    </div>
  </Dialog>
);
