// A program that waits for input: its last screen, and a field to answer it.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { InboxItem } from '../../contracts/gateway/api';
import { useAction } from '../api/actions';
import { isRefused, pathOf } from '../api/call-api';
import { once } from '../api/once';
import { mayAct } from '../api/signed-in';
import { ExactText } from '../text/exact-text';
import { unsent } from '../text/unsent';
import { ProblemNote } from './notes';

type Waiting = NonNullable<InboxItem['session']>;

export function PromptCard({ agent, waiting }: { agent: string; waiting: Waiting }): VNode {
  const { host, session, screen, echo, prompt } = waiting;
  const { isRunning, problem, run } = useAction();
  const text = useSignal('');
  const path = `${pathOf('sessions', agent, host, session)}/input`;
  /** What was asked when the text was begun: the card goes on to the next prompt of the program, and the text with it. */
  const begun = useRef<Waiting['prompt']>(undefined);
  const write = (next: string): void => {
    if (text.value === '' || begun.current === undefined) begun.current = prompt;
    text.value = next;
  };
  // Of a prompt that somebody else has answered meanwhile, nothing reaches the next one.
  const answer = (typed: object, to = prompt): void => {
    const written = text.value;
    void run(async () => {
      try {
        await once(path, { ...typed, ...(to && { prompt: to }) });
        text.value = unsent(text.value, written);
        begun.current = undefined;
      } catch (err) {
        // The person sees why, and looks at what is asked now.
        if (isRefused(err)) begun.current = undefined;
        throw err;
      }
    });
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    answer({ keyboard: text.value }, text.value === '' ? prompt : (begun.current ?? prompt));
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
            onInput={(event) => write(event.currentTarget.value)}
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
