// `host`: whether a machine that runs shells is online, and what it can do. Its lease is an activity on the host's own
// queue: heartbeats cost no history, and a host that dies is noticed within seconds.
import {
  ActivityFailure,
  condition,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  TimeoutFailure,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { defineSearchAttributeKey } from '@temporalio/common';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { hostTaskQueue, ID_PATTERN } from '../../contracts/ids';
import { label } from '../../contracts/text/labels';
import { SEARCH_ATTRIBUTES } from '../../contracts/messages';
import { HOST_MESSAGES as MESSAGES } from '../../contracts/messages/to-hosts';
import type { HostFacts, HostInput, HostState } from '../../contracts/schemas/remote-hosts';
import type { PresenceActivities } from '../../contracts/sessions/remote-hosts';
import { hostInputSchema } from '../../contracts/schemas/remote-hosts';
import { hostDetails } from './host-labels';
import { Listener } from '../messages/listener';
import { messageGuard } from '../messages/message-guard';
import { checked, refuse } from '../messages/refusal';
import { continueInNextRun } from '../next-run';

/** A host that is silent for this long is gone. */
const SILENT_MS = 8_000;
/** A host that announced itself but does not take its lease has died in between. */
const DELIVERY_MS = 10_000;
const FORGET_AFTER_MS = 30 * 24 * 3_600_000;
const CONTINUE_AT_EVENTS = 2_000;
const REMEMBERED_REFUSALS = 5;

/** Ends when it learns that the host will not come back, or 30 days after the host was last seen. */
export async function host(input?: HostInput, carried?: HostState): Promise<HostState> {
  const { namespace } = checked(hostInputSchema, 'The input of host', input ?? {});
  const name = ownName();
  const state = carried ?? newHost(name, namespace ?? workflowInfo().namespace);
  const news: News = { announced: null, isForgotten: false };
  const become = (status: HostState['status'], reason: string | null): void => {
    if (status !== state.status) state.since = new Date().toISOString();
    Object.assign(state, { status, reason });
    show(state);
  };
  listen(state, news);
  upsertSearchAttributes([{ key: defineSearchAttributeKey(SEARCH_ATTRIBUTES.host, 'KEYWORD'), value: name }]);
  show(state);

  // An enrolled host announces itself in its own namespace, never here: this workflow only records where that is.
  const isElsewhere = namespace !== undefined && namespace !== workflowInfo().namespace;
  const hasNews = (): boolean => news.announced !== null || news.isForgotten;
  for (;;) {
    const isHere = await (isElsewhere
      ? condition(hasNews).then(() => true)
      : condition(hasNews, FORGET_AFTER_MS));
    const next = news.announced;
    if (!isHere || news.isForgotten || !next) break;
    news.announced = null;
    become('online', null);
    const reason = await lease(name, next.instance);
    // Otherwise a new process of it has connected in the meantime, and gets the next lease.
    if (!isAnnounced(news)) become('offline', reason);
    // The next run would not know that it was forgotten meanwhile.
    if (news.isForgotten) continue;
    if (workflowInfo().historyLength > CONTINUE_AT_EVENTS && !isAnnounced(news))
      await continueInNextRun<typeof host>(input, state);
  }
  become('offline', news.isForgotten ? 'it was forgotten' : 'it was not seen for 30 days');
  return state;
}

/** What its messages have said since it was looked at. */
interface News {
  /** A process that has connected and has no lease yet. */
  announced: HostFacts | null;
  isForgotten: boolean;
}

/** A call, since messages come while the workflow waits. */
const isAnnounced = ({ announced }: News): boolean => announced !== null;

const newHost = (name: string, namespace: string): HostState => ({
  host: name,
  status: 'offline',
  since: new Date().toISOString(),
  reason: 'it has not connected yet',
  facts: null,
  namespace,
  refused: [],
});

const show = (state: HostState): void => setCurrentDetails(hostDetails(state));

function listen(state: HostState, news: News): void {
  const refused = (err: unknown): void => {
    state.refused = [...state.refused, reasonOf(err)].slice(-REMEMBERED_REFUSALS);
  };
  messageGuard().refused = refused;
  const signalled = (take: () => unknown): void => {
    try {
      take();
    } catch (err) {
      refused(err);
    }
  };
  const listener = new Listener({ admit: (parse) => parse(), signalled });
  listener.query(MESSAGES.state, () => state);
  listener.signal(MESSAGES.forget, () => (news.isForgotten = true));
  listener.signal(MESSAGES.announce, (facts) => {
    // The same process again: something about it has changed; its lease continues.
    const isKnown = state.status === 'online' && state.facts?.instance === facts.instance;
    state.facts = facts;
    if (!isKnown) news.announced = facts;
    show(state);
  });
}

/** A plain error would fail the workflow task over and over; this ends the workflow instead. */
function ownName(): string {
  const name = /^host\/(.+)$/.exec(workflowInfo().workflowId)?.[1] ?? '';
  if (ID_PATTERN.test(name)) return name;
  return refuse('invalid_input', {
    what: 'The workflow id of a host',
    got: workflowInfo().workflowId,
    allowed: 'host/<name>',
  });
}

/** Lasts as long as the host is online; returns why it no longer is. */
async function lease(name: string, instance: string): Promise<string> {
  const { holdLease } = proxyActivities<PresenceActivities>({
    taskQueue: hostTaskQueue(name),
    scheduleToStartTimeout: DELIVERY_MS,
    startToCloseTimeout: '365 days',
    heartbeatTimeout: SILENT_MS,
    retry: { maximumAttempts: 1 },
  });
  try {
    const { reason } = await holdLease.executeWithOptions({ summary: label(`${name} is online`) }, [
      { instance },
    ]);
    return reason;
  } catch (err) {
    if (isCancellation(err)) throw err;
    const cause = err instanceof ActivityFailure ? err.cause : err;
    return cause instanceof TimeoutFailure ? 'it is silent' : reasonOf(cause);
  }
}
