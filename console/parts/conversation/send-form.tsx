// Sends a message to an agent.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { useAction } from '../../api/actions';
import { callApi, pathOf } from '../../api/call-api';
import { ProblemNote } from '../notes';

export function SendForm({ id, isWorking }: { id: string; isWorking: boolean }): VNode {
  const { isRunning, problem, run } = useAction();
  const text = useSignal('');
  const told = useSignal('');
  // Sent again after an answer that was lost, it is the same message.
  const sent = useRef({ what: '', key: '' });
  const send = (mode: 'queue' | 'interrupt'): void => {
    const message = text.value;
    if (message.trim() === '') return;
    const what = JSON.stringify([mode, message]);
    if (sent.current.what !== what) sent.current = { what, key: crypto.randomUUID() };
    told.value = '';
    void run(async () => {
      await callApi('POST', `${pathOf('agents', id)}/messages`, { message, mode }, { key: sent.current.key });
      sent.current = { what: '', key: '' };
      text.value = '';
      told.value = !isWorking
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
      <p class="told" role="status">
        {told}
      </p>
      <ProblemNote problem={problem.value} />
    </form>
  );
}
