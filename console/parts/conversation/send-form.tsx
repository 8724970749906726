// Sends a message to an agent.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Message } from '../../../contracts/agents/agent';
import { useAction } from '../../api/actions';
import { pathOf } from '../../api/call-api';
import { draftOf } from '../../api/drafts';
import { once } from '../../api/once';
import { unsent } from '../../text/unsent';
import { ProblemNote } from '../notes';

interface SendFormProps {
  id: string;
  messages: readonly Message[];
  isWorking: boolean;
}

export function SendForm({ id, messages, isWorking }: SendFormProps): VNode {
  const { isRunning, problem, run } = useAction();
  const text = draftOf('message', id);
  const outcome = useSignal('');
  const send = (mode: 'queue' | 'interrupt'): void => {
    const message = text.value;
    if (message.trim() === '') return;
    outcome.value = '';
    // Once it is in the conversation, the same text is another message.
    const said = messages.filter((one) => one.role === 'user' && one.text === message).length;
    void run(async () => {
      await once(`${pathOf('agents', id)}/messages`, { message, mode }, said);
      text.value = unsent(text.value, message);
      outcome.value = !isWorking
        ? 'Sent.'
        : mode === 'queue'
          ? 'Queued: it is read after the running turn.'
          : 'The running turn ends first; this is next.';
    });
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    send('queue');
  };
  /** Enter sends; with Shift it begins a line. */
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
  };
  return (
    <form class="send" onSubmit={submit}>
      <textarea
        rows={2}
        aria-label="Message"
        placeholder={isWorking ? 'Message, read after the running turn' : 'Message'}
        value={text}
        onInput={(event) => (text.value = event.currentTarget.value)}
        onKeyDown={press}
      />
      <button class="main" type="submit" disabled={isRunning.value}>
        {isWorking ? 'Queue' : 'Send'}
      </button>
      {isWorking && (
        <button type="button" disabled={isRunning.value} onClick={() => send('interrupt')}>
          Interrupt with it
        </button>
      )}
      <p class="outcome" role="status">
        {outcome}
      </p>
      <ProblemNote problem={problem.value} />
    </form>
  );
}
