// The messages of an agent, each call folded to a line with its result in it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Message, ToolResult, Usage } from '../../contracts/agents/agent';
import { Call } from './call';
import { ExactText } from '../text/exact-text';
import { Markdown } from '../text/markdown';
import { money } from './notes';
import { resultsOfReply } from './results-of-reply';

const SHOWN = 200;
const MORE = 500;

interface ConversationProps {
  /** By index; some may still be missing. */
  messages: Message[];
  /** Text of the reply that is being written: not recorded yet. */
  live: string;
  /** Index of the message to show; null: none in particular. */
  place: number | null;
  /** A button that starts another agent with the first messages, as many as is said. */
  fork: ((at: number) => VNode) | null;
}

export function Conversation({ messages, live, place, fork }: ConversationProps): VNode {
  const shown = useSignal(SHOWN);
  const first = Math.max(0, Math.min(messages.length - shown.value, place ?? Infinity));
  const log = useRef<HTMLDivElement>(null);
  const isThere = place !== null && place < messages.length;
  useEffect(() => {
    const found = isThere ? log.current?.querySelector<HTMLElement>(`[data-message="${place}"]`) : null;
    found?.scrollIntoView({ block: 'start' });
    found?.focus({ preventScroll: true });
  }, [place, isThere]);
  return (
    <div class="conversation" role="log" aria-label="Conversation" ref={log}>
      {first > 0 && (
        <button type="button" onClick={() => (shown.value = messages.length - first + MORE)}>
          Show {Math.min(first, MORE)} earlier messages of {first}
        </button>
      )}
      {messages.slice(first).map((message, offset) => {
        const index = first + offset;
        // In its call.
        if (message.role === 'tool') return null;
        return (
          <div key={index} class="place" data-message={index} tabIndex={-1}>
            <MessageView
              message={message}
              results={resultsOfReply(messages, index)}
              fork={fork && forkAt(messages, index, fork)}
            />
          </div>
        );
      })}
      {live !== '' && (
        <div class="message assistant live" aria-live="off">
          <span class="from">writing, not recorded yet</span>
          <pre class="plain-text">
            <ExactText text={live} />
          </pre>
        </div>
      )}
    </div>
  );
}

/** An agent can be forked where a turn begins: before what a person said, and after the last answer. */
function forkAt(
  messages: readonly Message[],
  index: number,
  fork: NonNullable<ConversationProps['fork']>,
): VNode | null {
  const message = messages[index];
  if (message?.role === 'user') return fork(index);
  const isAnswer = message?.role === 'assistant' && message.parsed.kind === 'answer';
  return isAnswer && index === messages.length - 1 ? fork(index + 1) : null;
}

interface MessageProps {
  message: Message;
  /** Of the calls of a reply, in their order. */
  results: readonly (ToolResult | undefined)[];
  fork: VNode | null;
}

function MessageView({ message, results, fork }: MessageProps): VNode | null {
  switch (message.role) {
    case 'user':
      return (
        <div class="message user">
          <span class="from">
            you
            {fork}
          </span>
          <p class="plain-text">
            <ExactText text={message.text} />
          </p>
        </div>
      );
    case 'assistant':
      return <Reply message={message} results={results} fork={fork} />;
    case 'context':
      return <Folded title="files it reads first" text={message.text} />;
    case 'summary':
      return <Folded title={`summary of the first ${message.covers} messages`} text={message.text} />;
    case 'repair':
      return <Folded title="asked to repeat its reply in the right form" text={message.text} />;
    case 'tool':
      return null;
  }
}

function Reply({
  message,
  results,
  fork,
}: Omit<MessageProps, 'message'> & { message: Message & { role: 'assistant' } }): VNode {
  const { parsed, text, usage } = message;
  switch (parsed.kind) {
    case 'answer':
      return (
        <Step title="answer" usage={usage} fork={fork}>
          <Markdown text={parsed.answer} />
        </Step>
      );
    case 'malformed':
      return (
        <Step title="a reply that could not be read" usage={usage}>
          <p class="problem">
            <ExactText text={parsed.problem} />
          </p>
          {text !== undefined && <Folded title="the reply" text={text} />}
        </Step>
      );
    case 'calls':
      return (
        <Step title={parsed.headline ?? 'step'} usage={usage}>
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
  title: string;
  usage: Usage | undefined;
  fork?: VNode | null;
  children: ComponentChildren;
}

function Step({ title, usage, fork, children }: StepProps): VNode {
  return (
    <div class="message assistant">
      <span class="from">
        <ExactText text={title} />
        {fork}
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
