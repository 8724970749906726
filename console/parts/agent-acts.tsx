// What a person does with an agent. What ends something asks first, and everything says what came of it.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { AgentOverview } from '../../contracts/agents/agent';
import { useAction } from '../api/actions';
import { callApi, pathOf } from '../api/call-api';
import { linkTo } from '../api/place';
import { ProblemNote } from './notes';

interface Act {
  name: string;
  path: 'interrupt' | 'recover' | 'stop';
  question: string;
  /** On the button that does it. */
  yes: string;
  /** What came of it. */
  told: string;
  isDangerous?: true;
}

const ACTS: readonly Act[] = [
  {
    ...{ name: 'Interrupt', path: 'interrupt', yes: 'End the turn' },
    question:
      'End the running turn before its next step? Tools that run may finish, and what is queued comes next.',
    told: 'The turn has ended. The conversation goes on with the next message.',
  },
  {
    ...{ name: 'Recover', path: 'recover', yes: 'End the turn and reset' },
    question:
      'End the running turn, and everything that runs in its sessions? The conversation goes on with fresh shells.',
    told: 'The turn has ended, and its sessions were reset. The conversation goes on with the next message.',
  },
  {
    ...{ name: 'Stop', path: 'stop', yes: 'Stop the agent', isDangerous: true },
    question: 'End the turn, close the sessions and end the agent? It takes no more messages after that.',
    told: 'The agent is told to stop: it ends its turn and closes its sessions.',
  },
];

/** For those who may act. What came of the last one stays until the next. */
export function AgentActs({ state, isEnded }: { state: AgentOverview; isEnded: boolean }): VNode {
  const { agent, currentTurn } = state;
  const { isRunning, problem, run } = useAction();
  const asking = useSignal<Act | null>(null);
  const told = useSignal('');
  const perform = async ({ path, told: outcome }: Act): Promise<void> => {
    asking.value = null;
    told.value = '';
    const isDone = await run(() => callApi('POST', `${pathOf('agents', agent)}/${path}`, {}));
    if (isDone) told.value = outcome;
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
      <p class="told" role="status">
        {isRunning.value ? 'Asked; waiting for the answer…' : told}
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

function Question({ act, onYes, onNo }: QuestionProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onNo}>
      <p id={id}>{act.question}</p>
      <div class="answer">
        <button type="button" class={act.isDangerous ? 'danger' : 'main'} onClick={() => onYes(act)}>
          {act.yes}
        </button>
        {/* The safe answer is the one that Enter gives. */}
        <button type="button" autofocus onClick={() => dialog.current?.close()}>
          Cancel
        </button>
      </div>
    </dialog>
  );
}

/** Starts another agent with the first `at` messages, and goes there. */
export function ForkButton({ id, at }: { id: string; at: number }): VNode {
  const { isRunning, problem, run } = useAction();
  // Clicked again after an answer that was lost, it is the same fork.
  const key = useRef(crypto.randomUUID());
  const fork = (): void =>
    void run(async () => {
      const options = { key: key.current };
      const path = `${pathOf('agents', id)}/fork`;
      const { agent } = await callApi<{ agent: string }>('POST', path, { at }, options);
      key.current = crypto.randomUUID();
      location.hash = linkTo('agents', agent);
    });
  return (
    <>
      <button
        class="plain"
        type="button"
        title={`Start another agent with the ${at} messages up to here`}
        disabled={isRunning.value}
        onClick={fork}
      >
        fork from here
      </button>
      <ProblemNote problem={problem.value} />
    </>
  );
}
