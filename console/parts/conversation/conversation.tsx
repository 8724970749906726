// The messages of an agent, each call folded to a line with its result in it.
import { useSignal, type Signal } from '@preact/signals';
import { Component, type ComponentChildren, type VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Message, ToolResult, Usage } from '../../../contracts/agents/agent';
import { checkpointWords, rewindWords } from '../../files/change-words';
import { takenBack } from '../../files/standing-messages';
import { StepFiles } from '../../files/step-files';
import { Call } from './call';
import { useFollowedEnd } from './follow-end';
import { Jumps } from './jumps';
import { ExactText } from '../../text/exact-text';
import { Markdown } from '../../text/markdown';
import { money } from '../notes';
import { resultsOfReply } from './results-of-reply';
import { MORE, useShownWindow } from './shown-window';
import { howMany } from '../../text/how-many';
import { endOf } from '../../../contracts/text/well-formed';

/** Of a reply that is being written, its end: it is drawn anew with each token. */
const LIVE_CHARS = 20_000;

interface ConversationProps {
  /** By index; some may still be missing. */
  messages: readonly Message[];
  /** Text of the reply that is being written: not recorded yet. */
  live: string;
  /** Index of the message to show; null: none in particular. */
  place: number | null;
  /** A button that starts another agent with the first messages, as many as is said. */
  fork: ((at: number) => VNode) | null;
  /** A button that brings back what was there at the end of a step; 0: at the beginning. */
  rewind: ((to: number) => VNode) | null;
  /** Changes with these two. */
  actsVersion: string;
}

export function Conversation({ messages, live, place, fork, rewind, actsVersion }: ConversationProps): VNode {
  const { first, end, earlier, later } = useShownWindow(messages.length, place);
  const back = useMemo(() => takenBack(messages), [messages]);
  const log = useRef<HTMLDivElement>(null);
  const acts = useSignal<Pick<ConversationProps, 'fork' | 'rewind'>>({ fork, rewind });
  useLayoutEffect(() => void (acts.value = { fork, rewind }), [actsVersion]);
  const isThere = place !== null && place < messages.length;
  useEffect(() => {
    const found = isThere ? log.current?.querySelector<HTMLElement>(`[data-message="${place}"]`) : null;
    found?.scrollIntoView({ block: 'start' });
    found?.focus({ preventScroll: true });
  }, [place, isThere]);
  // What happened last is what a person has come for.
  useFollowedEnd(messages.length > 0 && place === null, messages);
  return (
    <div class="conversation" role="log" aria-label="Conversation" ref={log}>
      <Jumps messages={messages} />
      {first > 0 && (
        <button type="button" onClick={earlier}>
          Show {Math.min(first, MORE)} earlier messages of {first}
        </button>
      )}
      {messages.slice(first, end).map((message, offset) => {
        const index = first + offset;
        // In its call.
        if (message.role === 'tool') return null;
        return (
          <Place
            key={index}
            index={index}
            message={message}
            isBack={back.has(index) && saysSomething(message)}
            results={resultsOfReply(messages, index)}
            fork={fork && forkAt(messages, index)}
            rewind={rewind && rewindAt(messages, index)}
            acts={acts}
          />
        );
      })}
      {end < messages.length && (
        <button type="button" onClick={later}>
          Show {Math.min(messages.length - end, MORE)} later messages of {messages.length - end}
        </button>
      )}
      {live !== '' && (
        <div class="message assistant live" aria-live="off">
          <span class="from">writing, not recorded yet</span>
          <pre class="plain-text">
            <ExactText text={live.length > LIVE_CHARS ? `… ${endOf(live, LIVE_CHARS)}` : live} />
          </pre>
        </div>
      )}
    </div>
  );
}

const saysSomething = (message: Message): boolean =>
  message.role !== 'checkpoint' || checkpointWords(message) !== null;

/** An agent can be forked where a turn begins: before what a person said, and after the last answer. */
function forkAt(messages: readonly Message[], index: number): number | null {
  const message = messages[index];
  if (message?.role === 'user') return index;
  const isAnswer = message?.role === 'assistant' && message.parsed.kind === 'answer';
  return isAnswer && index === messages.length - 1 ? index + 1 : null;
}

/** Where a step has ended, and before the first one. */
function rewindAt(messages: readonly Message[], index: number): number | null {
  const message = messages[index];
  if (message?.role === 'user') return messages.findIndex(({ role }) => role === 'user') === index ? 0 : null;
  const isStep = message?.role === 'assistant' || message?.role === 'rewind';
  return isStep && message.step !== undefined ? message.step : null;
}

interface PlaceProps extends Omit<MessageProps, 'acts'> {
  index: number;
  /** A rewind took it back. */
  isBack: boolean;
  /** How many messages a fork here begins with; the step that a rewind goes to. Null: not here. */
  fork: number | null;
  rewind: number | null;
  acts: Signal<Pick<ConversationProps, 'fork' | 'rewind'>>;
}

/** One message, drawn anew only when something of it has changed: hundreds of others may be beside it. */
class Place extends Component<PlaceProps> {
  override shouldComponentUpdate(next: PlaceProps): boolean {
    const { message, isBack, results, fork, rewind } = this.props;
    return (
      next.message !== message ||
      next.isBack !== isBack ||
      next.fork !== fork ||
      next.rewind !== rewind ||
      next.results.length !== results.length ||
      next.results.some((result, at) => result !== results[at])
    );
  }

  override render(): VNode {
    const { index, message, isBack, results, fork, rewind, acts } = this.props;
    return (
      <div class={isBack ? 'place taken-back' : 'place'} data-message={index} tabIndex={-1}>
        {isBack && <span class="taken">taken back</span>}
        <MessageView message={message} results={results} acts={<Acts {...{ fork, rewind, acts }} />} />
      </div>
    );
  }
}

/** What can be done may change without the message: the signal says so. */
function Acts({ fork, rewind, acts }: Pick<PlaceProps, 'fork' | 'rewind' | 'acts'>): VNode {
  const { fork: forkButton, rewind: rewindButton } = acts.value;
  return (
    <>
      {fork !== null && forkButton?.(fork)}
      {rewind !== null && rewindButton?.(rewind)}
    </>
  );
}

interface MessageProps {
  message: Message;
  /** The results of a reply's calls, in their order. */
  results: readonly (ToolResult | undefined)[];
  /** Buttons. */
  acts: VNode;
}

function MessageView({ message, results, acts }: MessageProps): VNode | null {
  switch (message.role) {
    case 'user':
      return (
        <div class="message user">
          <span class="from">
            you
            {acts}
          </span>
          <p class="plain-text">
            <ExactText text={message.text} />
          </p>
        </div>
      );
    case 'assistant':
      return <Reply message={message} results={results} acts={acts} />;
    case 'context':
      return <Folded title="files it reads first" text={message.text} />;
    case 'summary':
      return (
        <Folded title={`summary of the first ${howMany(message.covers, 'message')}`} text={message.text} />
      );
    case 'repair':
      return <Folded title="asked to repeat its reply in the right form" text={message.text} />;
    case 'checkpoint': {
      const words = checkpointWords(message);
      return words && <StepFiles step={message.step} {...words} />;
    }
    case 'rewind':
      return (
        <>
          <StepFiles step={message.step} {...rewindWords(message)} />
          {acts}
        </>
      );
    case 'tool':
      return null;
  }
}

function Reply({
  message,
  results,
  acts,
}: Omit<MessageProps, 'message'> & { message: Message & { role: 'assistant' } }): VNode {
  const { parsed, text, usage } = message;
  switch (parsed.kind) {
    case 'answer':
      return (
        <Step step={message.step} title="answer" usage={usage} acts={acts}>
          <Markdown text={parsed.answer} />
        </Step>
      );
    case 'malformed':
      return (
        <Step step={message.step} title="a reply that could not be read" usage={usage} acts={acts}>
          <p class="problem">
            <ExactText text={parsed.problem} />
          </p>
          {text !== undefined && <Folded title="the reply" text={text} />}
        </Step>
      );
    case 'calls':
      return (
        <Step step={message.step} title={parsed.headline ?? 'step'} usage={usage} acts={acts}>
          {parsed.prose !== '' && <Markdown text={parsed.prose} />}
          {parsed.thoughts.length > 0 && <Folded title="thoughts" text={parsed.thoughts.join('\n')} />}
          {parsed.calls.map((call, index) => (
            <Call key={index} call={call} result={results[index]} />
          ))}
        </Step>
      );
  }
}

interface StepProps {
  step: number | undefined;
  title: string;
  usage: Usage | undefined;
  acts: VNode;
  children: ComponentChildren;
}

function Step({ step, title, usage, acts, children }: StepProps): VNode {
  return (
    <div class="message assistant">
      <span class="from">
        {step !== undefined && <span class="step-number">{step}</span>}
        <ExactText text={title} />
        {acts}
        {usage && (
          <span class="cost" title={`${usage.inputTokens} tokens read, ${usage.outputTokens} written`}>
            {usage.costUsd === null
              ? `${usage.inputTokens + usage.outputTokens} tokens`
              : money(usage.costUsd)}
          </span>
        )}
      </span>
      {children}
    </div>
  );
}

const Folded = ({ title, text }: { title: string; text: string }): VNode => (
  <details class="folded">
    <summary>{title}</summary>
    <pre class="plain-text" tabIndex={0}>
      <ExactText text={text} />
    </pre>
  </details>
);
