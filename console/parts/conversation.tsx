// The messages of an agent, each call folded to a line with its result in it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import type { Message, ToolCall, ToolResult, Usage } from '../../contracts/agents/agent';
import { Code, ExactText } from './exact-text';
import { Markdown } from './markdown';
import { bytes, money } from './notes';

const SHOWN = 200;
const MORE = 500;
const RESULT_CHARS = 4_000;

interface ConversationProps {
  /** By index; some may still be missing. */
  messages: Message[];
  /** Text of the reply that is being written: not recorded yet. */
  live: string;
  onFork?: (at: number) => void;
}

export function Conversation({ messages, live, onFork }: ConversationProps): VNode {
  const shown = useSignal(SHOWN);
  const first = Math.max(0, messages.length - shown.value);
  const results = new Map<string, ToolResult>();
  for (const message of messages) if (message.role === 'tool') results.set(message.callId, message);
  return (
    <div class="conversation" role="log" aria-label="Conversation">
      {first > 0 && (
        <button type="button" onClick={() => (shown.value += MORE)}>
          Show {Math.min(first, MORE)} earlier messages of {first}
        </button>
      )}
      {messages.slice(first).map((message, index) => (
        <MessageView
          key={first + index}
          message={message}
          results={results}
          onFork={onFork && (() => onFork(first + index))}
        />
      ))}
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

interface MessageProps {
  message: Message;
  results: ReadonlyMap<string, ToolResult>;
  onFork?: (() => void) | undefined;
}

function MessageView({ message, results, onFork }: MessageProps): VNode | null {
  switch (message.role) {
    case 'user':
      return (
        <div class="message user">
          <span class="from">
            you
            {onFork && (
              <button
                class="plain"
                type="button"
                title="Start another agent with what is above"
                onClick={onFork}
              >
                fork from here
              </button>
            )}
          </span>
          <p class="plain-text">
            <ExactText text={message.text} />
          </p>
        </div>
      );
    case 'assistant':
      return <Reply message={message} results={results} />;
    case 'context':
      return <Folded title="files it reads first" text={message.text} />;
    case 'summary':
      return <Folded title={`summary of the first ${message.covers} messages`} text={message.text} />;
    case 'repair':
      return <Folded title="asked to repeat its reply in the right form" text={message.text} />;
    case 'tool':
      // In its call.
      return null;
  }
}

function Reply({
  message,
  results,
}: { message: Message & { role: 'assistant' } } & Pick<MessageProps, 'results'>): VNode {
  const { parsed, text, usage } = message;
  switch (parsed.kind) {
    case 'answer':
      return (
        <Step title="answer" usage={usage}>
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
          {parsed.calls.map((call) => (
            <Call key={call.callId} call={call} result={results.get(call.callId)} />
          ))}
        </Step>
      );
  }
}

function Step({
  title,
  usage,
  children,
}: {
  title: string;
  usage: Usage | undefined;
  children: ComponentChildren;
}): VNode {
  return (
    <div class="message assistant">
      <span class="from">
        <ExactText text={title} />
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

/** A call's longest text argument is its code. */
function Call({ call, result }: { call: ToolCall; result: ToolResult | undefined }): VNode {
  const isPatch = /patch|edit|diff/.test(call.tool);
  const values = Object.entries(call.args).map(([name, value]) => ({
    name,
    text: typeof value === 'string' ? value : JSON.stringify(value, null, 2),
  }));
  const main = values.reduce((best, one) => (one.text.length > best.length ? one.text : best), '');
  return (
    <details class={`folded call${result?.isError ? ' failed' : ''}`}>
      <summary>
        <code>{call.tool}</code>{' '}
        <span class="first-line">
          <ExactText text={main.split('\n', 1)[0] ?? ''} />
        </span>
        <span class="quiet">
          {call.denied
            ? 'denied'
            : result === undefined
              ? 'running'
              : result.isError
                ? 'failed'
                : bytes(result.content.length)}
        </span>
      </summary>
      {values.map(({ name, text }) => (
        <section key={name}>
          <p class="name">{name}</p>
          {isPatch && /^[+-]/m.test(text) ? (
            <Patch text={text} />
          ) : (
            <Code text={text} label={`${name} of ${call.tool}`} />
          )}
        </section>
      ))}
      {call.denied && <p class="problem">{call.denied}</p>}
      {result && <Result result={result} />}
    </details>
  );
}

function Result({ result }: { result: ToolResult }): VNode {
  const isWhole = useSignal(result.content.length <= RESULT_CHARS);
  return (
    <section>
      <p class="name">result</p>
      <pre class="screen" tabIndex={0} role="region" aria-label={`Result of ${result.tool}`}>
        <ExactText text={isWhole.value ? result.content : result.content.slice(0, RESULT_CHARS)} />
      </pre>
      {!isWhole.value && (
        <button type="button" onClick={() => (isWhole.value = true)}>
          Show all {bytes(result.content.length)}
        </button>
      )}
    </section>
  );
}

const Patch = ({ text }: { text: string }): VNode => (
  <pre class="code" tabIndex={0} role="region" aria-label="Patch">
    {text.split('\n').map((line, index) => (
      <span
        key={index}
        class={`line ${line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : ''}`}
      >
        <ExactText text={line} />
        {'\n'}
      </span>
    ))}
  </pre>
);
