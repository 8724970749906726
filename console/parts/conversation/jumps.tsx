// Ways through a long conversation: to its beginning, its end, and the steps that failed.
import type { VNode } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import type { Message } from '../../../contracts/agents/agent';
import { ShownAgent } from '../../api/agent-stream';
import { linkTo } from '../../api/place';
import { howMany } from '../../text/how-many';

/** The latest ones. */
const FAILED_SHOWN = 10;
/** A shorter conversation is seen as a whole. */
const LONG = 30;

export function Jumps({ messages }: { messages: readonly Message[] }): VNode | null {
  const agent = useContext(ShownAgent);
  const { steps, failed } = useMemo(() => stepsOf(messages), [messages]);
  if (messages.length < LONG) return null;
  const to = (message: number): string => `${linkTo('agents', agent)}?message=${message}`;
  const shown = failed.slice(-FAILED_SHOWN);
  return (
    <nav class="jumps" aria-label="Jump">
      <span class="quiet">{howMany(steps, 'step')}</span>
      <a href={to(0)}>beginning</a>
      <a href={linkTo('agents', agent)}>end</a>
      {shown.length > 0 && (
        <span>
          {failed.length} failed:{' '}
          {shown.map(({ place, step }) => (
            <a key={place} href={to(place)}>
              step {step}
            </a>
          ))}
        </span>
      )}
    </nav>
  );
}

interface FailedStep {
  place: number;
  step: number;
}

/** A step has failed if its reply could not be read, or one of its calls ended with an error. */
function stepsOf(messages: readonly Message[]): { steps: number; failed: FailedStep[] } {
  const failed: FailedStep[] = [];
  let steps = 0;
  let last: FailedStep | undefined;
  for (const [place, message] of messages.entries()) {
    if (message.role === 'assistant') {
      steps += 1;
      last = { place, step: message.step ?? steps };
    }
    const hasFailed =
      (message.role === 'tool' && message.isError) ||
      (message.role === 'assistant' && message.parsed.kind === 'malformed');
    if (hasFailed && last && failed.at(-1)?.place !== last.place) failed.push(last);
  }
  return { steps, failed };
}
