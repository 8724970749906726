// Rewinds of an agent on its page: the question, what came of the last one, and its undoing.
import { useSignal, type Signal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Message } from '../../contracts/agents/agent';
import type { RewindResult, RewoundPart } from '../../contracts/workspaces/rewinds';
import { useAction } from '../api/actions';
import { problemOf } from '../api/call-api';
import { ProblemNote } from '../parts/notes';
import { momentText, resultWords } from './change-words';
import { RewindDialog, type RewindQuestion } from './rewind-dialog';
import { useRewinds } from './rewind-requests';

export const RewindButton = ({ to, onAsk }: { to: number; onAsk: (to: number) => void }): VNode => (
  <button
    class="plain"
    type="button"
    title={`Bring back files or conversation as they were ${to === 0 ? 'at' : 'after'} ${momentText(to)}`}
    onClick={() => onAsk(to)}
  >
    rewind to here
  </button>
);

interface RewindsProps {
  id: string;
  /** Null: nothing is asked. */
  asking: Signal<RewindQuestion | null>;
  messages: readonly Message[];
  isEnded: boolean;
  isWorking: boolean;
}

interface Done {
  result: RewindResult;
  what: RewoundPart;
}

export function RewindsOfAgent({ id, asking, messages, isEnded, isWorking }: RewindsProps): VNode {
  const rewinds = useRewinds(id, messages.filter(({ role }) => role === 'user').length);
  const done = useSignal<Done | null>(null);
  const { isRunning, problem, run } = useAction();
  const last = done.value && isLast(done.value.result, messages) ? done.value : null;
  const undo = ({ result: { step }, what }: Done): void =>
    void run(async () => {
      const wanted = { to: (step ?? 1) - 1, what };
      try {
        done.value = { result: await rewinds.rewind(wanted), what };
      } catch (err) {
        if (problemOf(err).code !== 'workspace_changed') throw err;
        asking.value = wanted;
      }
    });
  return (
    <>
      <p class="outcome" role="status">
        {last && (
          <>
            {resultWords(last.result)}{' '}
            {last.result.step !== null && (
              <button type="button" disabled={isRunning.value || isWorking} onClick={() => undo(last)}>
                Undo
              </button>
            )}
          </>
        )}
      </p>
      <ProblemNote problem={problem.value} />
      {asking.value && (
        <RewindDialog
          key={asking.value.to}
          question={asking.value}
          {...{ rewinds, isEnded, isWorking }}
          onDone={(result, { what }) => {
            done.value = { result, what };
            asking.value = null;
          }}
          onClose={() => (asking.value = null)}
        />
      )}
    </>
  );
}

/** Nothing has been done since. */
const isLast = ({ step }: RewindResult, messages: readonly Message[]): boolean =>
  step === null ||
  !messages.some((message) => 'step' in message && message.step !== undefined && message.step > step);
