// One agent: its conversation, what it is doing, its terminals and those below it.
import { useSignal, type Signal } from '@preact/signals';
import type { VNode } from 'preact';
import type { AgentOverview } from '../../contracts/agents/agent';
import { ShownAgent, useAgentStream, type AgentStream } from '../api/agent-stream';
import { inbox, keyOf, openAgents } from '../api/overview';
import { place } from '../api/place';
import { mayAct, temporalLink } from '../api/signed-in';
import type { RewindQuestion } from '../files/rewind-dialog';
import { RewindButton, RewindsOfAgent } from '../files/rewinds';
import { AgentActs } from '../parts/agent-acts';
import { AgentTreeView } from '../parts/agent-tree';
import { ApprovalCard } from '../parts/approval';
import { FailureAnswer } from '../parts/failure';
import { Conversation } from '../parts/conversation/conversation';
import { ForkButton } from '../parts/conversation/fork';
import { ExactText } from '../text/exact-text';
import { LastTurn } from '../parts/conversation/last-turn';
import { money, ProblemNote, Since, State } from '../parts/notes';
import { PromptCard } from '../parts/prompt';
import { SendForm } from '../parts/conversation/send-form';
import { TimeLineView } from '../parts/time-line';
import { TerminalTile } from '../terminal/tile';

export function AgentPage({ id }: { id: string }): VNode {
  const stream = useAgentStream(id);
  const state = stream.overview.value;
  const open = useSignal<string | null>(null);
  const isEnded = stream.ended.value !== null || state?.status === 'ended';
  return (
    <>
      <div class="title">
        <h1>{id}</h1>
        {state && <State state={isEnded ? 'ended' : state.status} />}
      </div>
      <ProblemNote problem={stream.problem.value} />
      {state && <Facts state={state} isEnded={isEnded} />}
      <div class={open.value === null ? 'agent' : 'agent with-terminal'}>
        <Work {...{ id, stream, isEnded }} />
        <aside class="column" aria-label="Terminals and sub-agents">
          {state && <Shells state={state} open={open.value} onOpen={(key) => (open.value = key)} />}
          {state && state.agents.length > 0 && (
            <AgentTreeView id={id} version={JSON.stringify(state.agents)} />
          )}
        </aside>
      </div>
    </>
  );
}

interface WorkProps {
  id: string;
  stream: AgentStream;
  isEnded: boolean;
}

/** What was said and done, what the agent does now, and what a person can send it. */
function Work({ id, stream, isEnded }: WorkProps): VNode {
  const { messages, live, isMissing } = stream;
  const state = stream.overview.value;
  const asking = useSignal<RewindQuestion | null>(null);
  // An id is used again: what is asked of it would be done to the other one.
  const isOther =
    isEnded &&
    state !== null &&
    (openAgents.value ?? []).some((other) => other.id === id && other.runId !== state.runId);
  const mayChange = mayAct() && !isOther;
  return (
    <div class="column">
      <Said {...{ id, stream }} asking={mayChange ? asking : null} />
      {state && messages.value.length === 0 && live.value === '' && (
        <p class="quiet">
          {state.messages > 0
            ? 'Reading its messages…'
            : 'No messages yet. What it is told and does appears here.'}
        </p>
      )}
      {state?.turn && !isEnded && <CurrentStep turn={state.turn} />}
      {state?.lastResult && state.currentTurn === null && (
        <LastTurn
          result={state.lastResult}
          isEnded={isEnded}
          answer={mayChange ? <FailureOf state={state} isEnded={isEnded} /> : null}
        />
      )}
      <Waiting id={id} />
      {isOther && (
        <p class="quiet" role="status">
          This agent has ended, and another one has its id by now. Reload the page to see that one.
        </p>
      )}
      {state && mayChange && (
        <div class="foot">
          <RewindsOfAgent
            {...{ id, asking, isEnded }}
            messages={messages.value}
            isWorking={state.currentTurn !== null && !isEnded}
          />
          {!isEnded && <SendForm messages={messages.value} id={id} isWorking={state.status === 'working'} />}
        </div>
      )}
      {!isMissing.value && (
        <WhatHappened id={id} version={`${messages.value.length} ${versionOf(state)} ${isEnded}`} />
      )}
    </div>
  );
}

/** Until the agent goes on or it is put away; of one that has ended, the inbox knows that. */
function FailureOf({ state, isEnded }: { state: AgentOverview; isEnded: boolean }): VNode | null {
  const { agent, runId, turns: turn, waits } = state;
  const isListed = inbox.value?.some(({ run }) => run?.runId === runId);
  if (isEnded ? !isListed : waits?.for !== 'retry') return null;
  return <FailureAnswer agent={agent} run={{ runId, isOpen: !isEnded, turn }} />;
}

interface SaidProps {
  id: string;
  stream: AgentStream;
  /** Null: nothing may be changed, so neither forks nor rewinds are offered. */
  asking: Signal<RewindQuestion | null> | null;
}

/** The conversation, with a fork and a rewind at each place, at the message that the address names. */
function Said({ id, stream: { messages, live }, asking }: SaidProps): VNode {
  const shown = /^\d{1,9}$/.exec(place.value.query.get('message') ?? '')?.[0];
  const hasFiles = messages.value.some(
    (message) => message.role === 'checkpoint' && message.outcome.state === 'kept',
  );
  return (
    <ShownAgent.Provider value={id}>
      <Conversation
        messages={messages.value}
        live={live.value}
        place={shown === undefined ? null : Number(shown)}
        actsVersion={`${hasFiles} ${asking !== null}`}
        fork={asking && ((at) => <ForkButton {...{ id, at, hasFiles }} />)}
        rewind={
          asking &&
          ((to) => <RewindButton to={to} onAsk={(wanted) => (asking.value = { to: wanted, what: 'both' })} />)
        }
      />
    </ShownAgent.Provider>
  );
}

const CurrentStep = ({ turn }: { turn: NonNullable<AgentOverview['turn']> }): VNode => (
  <p class="doing" role="status">
    Step {turn.step} of at most {turn.maxSteps}: <ExactText text={turn.doing} />, <Since at={turn.since} />
  </p>
);

/** The time line, read only once it is opened. */
function WhatHappened({ id, version }: { id: string; version: string }): VNode {
  const isOpen = useSignal(false);
  return (
    <details class="more" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>What happened, and when</summary>
      {isOpen.value && <TimeLineView {...{ id, version }} />}
    </details>
  );
}

function Facts({ state, isEnded }: { state: AgentOverview; isEnded: boolean }): VNode {
  const { agent, model, host, since, usage, waits, queued } = state;
  const link = temporalLink(`agent/${agent}`);
  return (
    <div class="agent-facts">
      <span>{model}</span>
      <span>on {host}</span>
      {since && (
        <span>
          {state.status} for <Since at={since} />
        </span>
      )}
      {waits && <span>waits for {waits.for}</span>}
      {queued > 0 && <span>{queued} queued</span>}
      {usage && (
        <span title={`${usage.cachedTokens} of those read from the cache`}>
          {usage.inputTokens} tokens read, {usage.outputTokens} written, {money(usage.costUsd)}
        </span>
      )}
      {link && (
        <a href={link} target="_blank" rel="noopener noreferrer">
          workflow
        </a>
      )}
      <span class="space" />
      {mayAct() && <AgentActs state={state} isEnded={isEnded} />}
    </div>
  );
}

/** What waits for a person in this agent, where it happens. */
function Waiting({ id }: { id: string }): VNode {
  const own = (inbox.value ?? []).filter(({ agent, kind }) => agent === id && kind !== 'failed');
  return (
    <>
      {own.map((item) => (
        <article key={keyOf(item)} class={`card ${item.kind}`} aria-label={item.text}>
          <h2>
            <ExactText text={item.text} />
          </h2>
          {item.approval && <ApprovalCard approval={item.approval} />}
          {item.session && <PromptCard agent={id} waiting={item.session} />}
        </article>
      ))}
    </>
  );
}

/** Changes with what a time line shows. */
const versionOf = (state: AgentOverview | null): string =>
  JSON.stringify([state?.turns, state?.turn?.step, state?.shells.map(({ status }) => status), state?.waits]);

interface ShellsProps {
  state: AgentOverview;
  open: string | null;
  onOpen: (key: string | null) => void;
}

function Shells({ state, open, onOpen }: ShellsProps): VNode {
  const { agent, shells } = state;
  const shown = shells.find(({ workflowId }) => workflowId === open);
  return (
    <section>
      <h2>Terminals</h2>
      {shells.length === 0 && <p class="quiet">None is open. The agent opens one when it runs code.</p>}
      <div class="chips">
        {shells.map(({ host, session, workflowId, status }) => (
          <button
            key={workflowId}
            type="button"
            aria-pressed={workflowId === open}
            onClick={() => onOpen(workflowId === open ? null : workflowId)}
          >
            {host} {session} <span class="quiet">{status?.replace('_', ' ') ?? 'does not answer'}</span>
          </button>
        ))}
      </div>
      {shown && (
        <TerminalTile
          key={shown.workflowId}
          agent={agent}
          host={shown.host}
          session={shown.session}
          onClose={() => onOpen(null)}
        />
      )}
    </section>
  );
}
