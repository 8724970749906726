// What a person does about an agent that stopped without what was asked for: try again, say something, or put it away.
import type { VNode } from 'preact';
import type { InboxItem } from '../../contracts/gateway/api';
import { useAction } from '../api/actions';
import { pathOf } from '../api/call-api';
import { draftOf } from '../api/drafts';
import { once } from '../api/once';
import { linkTo } from '../api/place';
import { mayAct } from '../api/signed-in';
import { ProblemNote } from './notes';

interface FailureAnswerProps {
  agent: string;
  run: Pick<NonNullable<InboxItem['run']>, 'runId' | 'isOpen' | 'turn'>;
  /** Where there is no other field for a message. */
  hasField?: boolean;
}

/** For those who may act. */
export function FailureAnswer({ agent, run, hasField = false }: FailureAnswerProps): VNode | null {
  const { runId, isOpen, turn } = run;
  const { isRunning, problem, run: act } = useAction();
  const text = draftOf('retry', runId, String(turn));
  if (!mayAct()) return null;
  const retry = (event: Event): void => {
    event.preventDefault();
    const message = hasField ? text.value.trim() : '';
    const body = { ...(message && { message }), ...(!isOpen && { runId }) };
    void act(async () => {
      const next = await once<{ agent: string }>(`${pathOf('agents', agent)}/retry`, body, turn);
      text.value = '';
      if (next.agent !== agent) location.hash = linkTo('agents', next.agent);
    });
  };
  const dismiss = (): void =>
    void act(() =>
      once(`${pathOf('agents', agent)}/dismiss`, { runId, ...(turn !== null && { turn }) }, turn),
    );
  return (
    <>
      <form class="answer" onSubmit={retry}>
        {hasField && (
          <input
            class="grow"
            aria-label="Message; without one, the same is tried again"
            placeholder="Message (optional)"
            value={text}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        )}
        <button
          class="main"
          type="submit"
          title={isOpen ? undefined : 'Another agent goes on with its conversation'}
          disabled={isRunning.value}
        >
          {text.value.trim() && hasField ? 'Send' : 'Retry'}
        </button>
        <button type="button" disabled={isRunning.value} onClick={dismiss}>
          Dismiss
        </button>
      </form>
      <ProblemNote problem={problem.value} />
    </>
  );
}
