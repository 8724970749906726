// Asks what to bring back, and shows first what that would change.
import { useSignal, type Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { RewindResult, RewoundPart } from '../../contracts/workspaces/rewinds';
import { useAction } from '../api/actions';
import { problemOf, type ProblemText } from '../api/call-api';
import { Cancel, Dialog, ProblemNote } from '../parts/notes';
import { momentText, REWOUND_PARTS_IN_WORDS } from './change-words';
import { OutlookView } from './outlook';
import type { Outlook, Rewinds, WantedRewind } from './rewind-requests';

export interface RewindQuestion {
  to: number;
  what: RewoundPart;
}

interface RewindDialogProps {
  question: RewindQuestion;
  rewinds: Rewinds;
  isEnded: boolean;
  isWorking: boolean;
  onDone: (result: RewindResult, wanted: WantedRewind) => void;
  onClose: () => void;
}

export function RewindDialog(props: RewindDialogProps): VNode {
  const { question, isWorking, onClose } = props;
  return (
    <Dialog title={`Rewind to ${momentText(question.to)}`} onClose={onClose} isWide>
      {isWorking ? (
        <>
          <p role="status">
            A turn is running. Rewinding is possible when it has ended: wait, or interrupt it.
          </p>
          <div class="answer">
            <Cancel>Close</Cancel>
          </div>
        </>
      ) : (
        <Choice {...props} />
      )}
    </Dialog>
  );
}

function Choice({ question: { to, what: first }, rewinds, isEnded, onDone }: RewindDialogProps): VNode {
  const what = useSignal<RewoundPart>(isEnded ? 'files' : first);
  const stop = useSignal(false);
  const { outlook, fault, look } = useOutlook(rewinds, { to, what: what.value });
  const { isRunning, problem, run } = useAction();
  const conflict = outlook.value?.conflict ?? null;
  const rewind = (): void =>
    void run(async () => {
      const wanted: WantedRewind = { to, what: what.value };
      if (conflict) wanted.force = true;
      if (stop.value) wanted.stop = true;
      try {
        onDone(await rewinds.rewind(wanted), wanted);
      } catch (err) {
        // Somebody has changed files since the look.
        if (problemOf(err).code === 'workspace_changed') look();
        else throw err;
      }
    });
  return (
    <>
      <Parts what={what} isEnded={isEnded} />
      {outlook.value ? (
        <OutlookView of={outlook.value} isEnded={isEnded} stop={stop} />
      ) : (
        !fault.value && <p role="status">Looking what would change…</p>
      )}
      <ProblemNote problem={fault.value} />
      <ProblemNote problem={problem.value} />
      <div class="answer">
        <button
          type="button"
          class={conflict ? 'danger' : 'main'}
          disabled={isRunning.value || !outlook.value}
          onClick={rewind}
        >
          {conflict ? 'Rewind all the same; theirs are kept in a checkpoint' : 'Rewind'}
        </button>
        <Cancel />
        {isRunning.value && <span role="status">Rewinding…</span>}
      </div>
    </>
  );
}

function Parts({ what, isEnded }: { what: Signal<RewoundPart>; isEnded: boolean }): VNode {
  return (
    <fieldset class="parts">
      <legend>What to bring back</legend>
      {REWOUND_PARTS_IN_WORDS.map(([part, words]) => (
        <label key={part} class="check">
          <input
            type="radio"
            name="what"
            checked={what.value === part}
            disabled={isEnded && part !== 'files'}
            onChange={() => (what.value = part)}
          />{' '}
          {words}
        </label>
      ))}
      {isEnded && <p class="quiet">It has ended: only its files can be brought back.</p>}
    </fieldset>
  );
}

interface LookedAt {
  /** Null until it is known. */
  outlook: Signal<Outlook | null>;
  fault: Signal<ProblemText | null>;
  look: () => void;
}

function useOutlook(rewinds: Rewinds, { to, what }: WantedRewind): LookedAt {
  const outlook = useSignal<Outlook | null>(null);
  const fault = useSignal<ProblemText | null>(null);
  const asked = useSignal(0);
  const look = (): void => {
    const own = ++asked.value;
    outlook.value = null;
    fault.value = null;
    // An answer that comes late may be of another choice.
    const isLate = (): boolean => own !== asked.value;
    rewinds.look({ to, what }).then(
      (found) => isLate() || (outlook.value = found),
      (err: unknown) => isLate() || (fault.value = problemOf(err)),
    );
  };
  useEffect(look, [to, what]);
  return { outlook, fault, look };
}
