// All that waits for a person over all agents, oldest first.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { InboxItem } from '../../contracts/gateway/api';
import { inbox, keyOf } from '../api/overview';
import { linkTo } from '../api/place';
import { useFocusOnNext } from '../parts/focus-on-next';
import { ApprovalCard } from '../parts/approval';
import { ExactText } from '../text/exact-text';
import { FailureAnswer } from '../parts/failure';
import { Empty, Since } from '../parts/notes';
import { PromptCard } from '../parts/prompt';

const KINDS: Record<InboxItem['kind'], string> = { approval: 'approval', input: 'input', failed: 'failed' };

export function InboxPage(): VNode {
  const items = inbox.value;
  const list = useFocusOnNext(items?.map(keyOf) ?? []);
  return (
    <>
      <div class="title">
        <h1>Inbox</h1>
        <span class="quiet" role="status">
          {items && items.length > 0 ? `${items.length} waiting, oldest first` : ''}
        </span>
        <span class="space" />
        <NotifyButton />
      </div>
      {items === null && <p class="quiet">Reading what waits…</p>}
      {items?.length === 0 && (
        <Empty>
          <h2>Nothing waits for you</h2>
          <p>
            Approvals, programs that wait for input, and agents that stopped without an answer appear here.
            Look at the <a href={linkTo('agents')}>agents</a>, or <a href={linkTo('start')}>start one</a>.
          </p>
        </Empty>
      )}
      <div ref={list}>
        {items?.map((item) => (
          <Item key={keyOf(item)} item={item} />
        ))}
      </div>
    </>
  );
}

function Item({ item }: { item: InboxItem }): VNode {
  const { kind, agent, since, text, approval, session, failure, run } = item;
  return (
    <article class={`card ${kind}`} aria-label={`${agent}: ${text}`} tabIndex={-1}>
      <header>
        <span class={`state ${kind}`}>{KINDS[kind]}</span>
        <h2>
          <ExactText text={text} />
        </h2>
        <span class="quiet">
          <a href={linkTo('agents', agent)}>{agent}</a>
          {session && ` on ${session.host}`}, <Since at={since} />
        </span>
      </header>
      {approval && <ApprovalCard approval={approval} />}
      {session && <PromptCard agent={agent} waiting={session} />}
      {failure && (
        <p>
          <ExactText text={failure.message} />{' '}
          <span class="quiet">
            <ExactText text={failure.next} />
          </span>
        </p>
      )}
      {run?.parent && (
        <p class="quiet">
          It is a sub-agent of <a href={linkTo('agents', run.parent)}>{run.parent}</a>, which was notified.
        </p>
      )}
      {run && <FailureAnswer agent={agent} run={run} hasField />}
    </article>
  );
}

/** Browsers ask the person only after a click. */
function NotifyButton(): VNode | null {
  const isAsked = useSignal('Notification' in window ? Notification.permission !== 'default' : true);
  if (isAsked.value) return null;
  const ask = (): void => void Notification.requestPermission().then(() => (isAsked.value = true));
  return (
    <button class="plain" type="button" onClick={ask}>
      Notify me in the browser
    </button>
  );
}
