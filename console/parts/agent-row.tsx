// One agent in the list: its state, what it is doing and for how long, and what it has cost.
import type { VNode } from 'preact';
import type { AgentOverview } from '../../contracts/agents/agent';
import type { AgentEntry } from '../api/agent-entry';
import { inbox } from '../api/overview';
import { linkTo } from '../api/place';
import { useSeenState } from '../api/seen-states';
import { ExactText } from '../text/exact-text';
import type { Branch } from './in-tree';
import { WHY } from './conversation/last-turn';
import { money, Since, State } from './notes';

const INDENT_PX = 20;
const MOST_INDENTS = 5;

export function AgentRow({ entry, depth }: Branch): VNode {
  const { id, state: listed, waitsFor, message, startedAt, end, failure } = entry;
  const seen = useSeenState(id, end ? null : JSON.stringify([listed, waitsFor]));
  const indent = Math.min(depth, MOST_INDENTS) * INDENT_PX;
  return (
    <a class={`agent-row${seen ? ' seen' : ''}`} href={linkTo('agents', id)}>
      <State state={waitOf(id, waitsFor) ?? (failure ? 'failed' : (end?.how ?? listed))} />
      <span class="id" style={{ paddingLeft: `${indent}px` }}>
        {depth > 0 && <span aria-hidden="true">↳ </span>}
        {id}
      </span>
      <span class="task">
        <span class="first">
          <ExactText text={message ?? ''} />
        </span>
        {failure ? <Failed why={failure.why} /> : seen && <Doing state={seen} />}
      </span>
      <span class="quiet cost">{seen?.usage && money(seen.usage.costUsd)}</span>
      <span class="quiet age">
        <Since at={end?.at ?? seen?.since ?? startedAt} />
      </span>
    </a>
  );
}

/** By the reason of the turn's end, or the code of an error. */
const Failed = ({ why }: { why: string }): VNode => (
  <span class="now failed">
    No answer: {Object.hasOwn(WHY, why) ? WHY[why as keyof typeof WHY] : why.replaceAll('_', ' ')}
  </span>
);

function Doing({ state: { turn, lastResult, currentTurn } }: { state: AgentOverview }): VNode | null {
  if (turn)
    return (
      <span class="now">
        Step {turn.step}: <ExactText text={turn.doing} />, <Since at={turn.since} />
      </span>
    );
  const reason = lastResult?.reason;
  if (currentTurn !== null || reason === undefined || reason === 'answered') return null;
  return <span class="now">No answer: {WHY[reason]}</span>;
}

/** A program in one of its shells may wait for a person while the agent itself is idle. */
const waitOf = (id: string, waitsFor: AgentEntry['waitsFor']): string | undefined =>
  waitsFor === 'approval' || waitsFor === 'input'
    ? waitsFor
    : inbox.value?.find(({ agent, kind }) => agent === id && kind !== 'failed')?.kind;
