// Starts another agent with the beginning of a conversation, and goes there.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { useAction, type Action } from '../../api/actions';
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
      {isAsking.value ? (
        <ForkDialog
          {...{ at, isOwn: isOwn.value, action: { isRunning, problem }, choose }}
          onFork={fork}
          onClose={() => (isAsking.value = false)}
        />
      ) : (
        <ProblemNote problem={problem.value} />
      )}
    </>
  );
}

interface ForkDialogProps {
  at: number;
  /** Whether the other agent gets a folder of its own. */
  isOwn: boolean;
  choose: (isOwn: boolean) => void;
  action: Pick<Action, 'isRunning' | 'problem'>;
  onFork: () => void;
  onClose: () => void;
}

/** Asks which folder the other agent is to work in. */
function ForkDialog({ at, isOwn, choose, action, onFork, onClose }: ForkDialogProps): VNode {
  return (
    <Dialog title={`Start another agent with the ${howMany(at, 'message')} up to here?`} onClose={onClose}>
      <label class="check">
        <input type="checkbox" checked={isOwn} onChange={(event) => choose(event.currentTarget.checked)} /> in
        a folder of its own, with the files of that moment
      </label>
      <p class="quiet">
        {isOwn ? 'This agent’s folder stays as it is.' : 'Otherwise both agents work in the same folder.'}
      </p>
      <ProblemNote problem={action.problem.value} />
      <div class="answer">
        <button type="button" class="main" disabled={action.isRunning.value} onClick={onFork}>
          Fork
        </button>
        <Cancel />
      </div>
    </Dialog>
  );
}
