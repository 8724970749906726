// Starts another agent with the beginning of a conversation, and goes there.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { useAction } from '../../api/actions';
import { callApi, pathOf } from '../../api/call-api';
import { linkTo } from '../../api/place';
import { Cancel, Dialog, ProblemNote } from '../notes';
import { howMany } from '../../text/how-many';

interface ForkProps {
  id: string;
  /** How many messages it begins with. */
  at: number;
  /** Whether there are checkpoints: then it asks which folder the other agent is to work in. */
  hasFiles: boolean;
}

export function ForkButton({ id, at, hasFiles }: ForkProps): VNode {
  const { isRunning, problem, run } = useAction();
  const isAsking = useSignal(false);
  const isOwn = useSignal(false);
  // Clicked again after an answer that was lost, it is the same fork.
  const key = useRef(crypto.randomUUID());
  const fork = (): void =>
    void run(async () => {
      const options = { key: key.current };
      const body = { at, ...(isOwn.value && { files: true }) };
      const { agent } = await callApi<{ agent: string }>(
        'POST',
        `${pathOf('agents', id)}/fork`,
        body,
        options,
      );
      key.current = crypto.randomUUID();
      isAsking.value = false;
      location.hash = linkTo('agents', agent);
    });
  const choose = (isChosen: boolean): void => {
    isOwn.value = isChosen;
    // Another request.
    key.current = crypto.randomUUID();
  };
  return (
    <>
      <button
        class="plain"
        type="button"
        title={`Start another agent with the ${howMany(at, 'message')} up to here`}
        disabled={isRunning.value}
        onClick={hasFiles ? () => (isAsking.value = true) : fork}
      >
        fork from here
      </button>
      {isAsking.value && (
        <Dialog
          title={`Start another agent with the ${howMany(at, 'message')} up to here?`}
          onClose={() => (isAsking.value = false)}
        >
          <label class="check">
            <input
              type="checkbox"
              checked={isOwn.value}
              onChange={(event) => choose(event.currentTarget.checked)}
            />{' '}
            in a folder of its own, with the files of that moment
          </label>
          <p class="quiet">
            {isOwn.value
              ? 'This agent’s folder stays as it is.'
              : 'Otherwise both agents work in the same folder.'}
          </p>
          <ProblemNote problem={problem.value} />
          <div class="answer">
            <button type="button" class="main" disabled={isRunning.value} onClick={fork}>
              Fork
            </button>
            <Cancel />
          </div>
        </Dialog>
      )}
      {!isAsking.value && <ProblemNote problem={problem.value} />}
    </>
  );
}
