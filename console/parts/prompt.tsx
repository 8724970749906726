// A program that waits for input: its last screen, and a field to answer it.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { InboxItem } from '../../contracts/gateway/api';
import { useAction } from '../api/actions';
import { pathOf } from '../api/call-api';
import { useOnce } from '../api/once';
import { mayAct } from '../api/signed-in';
import { ExactText } from '../text/exact-text';
import { ProblemNote } from './notes';

type Waiting = NonNullable<InboxItem['session']>;

export function PromptCard({ agent, waiting }: { agent: string; waiting: Waiting }): VNode {
  const { host, session, screen, echo, prompt } = waiting;
  const { isRunning, problem, run } = useAction();
  const text = useSignal('');
  const path = `${pathOf('sessions', agent, host, session)}/input`;
  const once = useOnce();
  // Of a prompt that somebody else has answered meanwhile, nothing reaches the next one.
  const answer = (typed: object): void =>
    void run(async () => {
      await once(path, { ...typed, ...(prompt && { prompt }) });
      text.value = '';
    });
  const submit = (event: Event): void => {
    event.preventDefault();
    answer({ keyboard: text.value });
  };
  return (
    <>
      <pre class="screen" tabIndex={0} role="region" aria-label={`Screen of shell ${session} of ${agent}`}>
        <ExactText text={screen} />
      </pre>
      {mayAct() && (
        <form class="answer" onSubmit={submit}>
          <input
            class="grow"
            {...(echo ? { type: 'text' as const } : { type: 'password' as const })}
            aria-label={echo ? 'Answer' : 'Answer, not shown: the program does not echo it'}
            placeholder={echo ? 'Answer' : 'Password'}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={text}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
          <button class="main" type="submit" disabled={isRunning.value}>
            Send
          </button>
          <button type="button" disabled={isRunning.value} onClick={() => answer({ keys: ['ctrl-c'] })}>
            Ctrl-C
          </button>
        </form>
      )}
      <ProblemNote problem={problem.value} />
    </>
  );
}
