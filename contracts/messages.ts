// Names of workflows, of their search attributes and memos; contracts/messages/ has their messages. Outside callers depend
// on them: any change here is a breaking change.

import { label } from './text/labels';

export const WORKFLOWS = {
  agent: 'agent',
  turn: 'turn',
  execSession: 'execSession',
  host: 'host',
  claim: 'claim',
  /** Internal: copies part of a large value from one machine to another. */
  carryBlob: 'carryBlob',
  /** Internal: publishes to a host without agents which tools its scripts may call beside the agents. */
  offeredTools: 'offeredTools',
  /** Internal: what differs between two checkpoints of a host. */
  compareCheckpoints: 'compareCheckpoints',
  /** Internal: brings back files of an agent that has ended. */
  rewindFiles: 'rewindFiles',
  /** Internal: sends events to one receiver. */
  webhook: 'webhook',
  /** Internal: counts what the models of all agents use in a day. */
  quota: 'quota',
} as const;

/** Custom search attributes, registered by `holdfast up`. */
export const SEARCH_ATTRIBUTES = {
  agent: 'HoldfastAgent',
  host: 'HoldfastHost',
  session: 'HoldfastSession',
  /** What it is doing, of the states that last. */
  state: 'HoldfastState',
  /** What somebody else has to give. */
  waitsFor: 'HoldfastWaitsFor',
  /** The last waits for somebody, and losses, for webhooks; and when the latest of them was. */
  notices: 'HoldfastNotices',
  noticedAt: 'HoldfastNoticedAt',
} as const;

/** Their types, spelled as in Temporal's command line. */
export const SEARCH_ATTRIBUTE_TYPES: Readonly<
  Record<string, 'Keyword' | 'Int' | 'KeywordList' | 'Datetime'>
> = {
  [SEARCH_ATTRIBUTES.agent]: 'Keyword',
  [SEARCH_ATTRIBUTES.host]: 'Keyword',
  [SEARCH_ATTRIBUTES.session]: 'Int',
  [SEARCH_ATTRIBUTES.state]: 'Keyword',
  [SEARCH_ATTRIBUTES.waitsFor]: 'Keyword',
  [SEARCH_ATTRIBUTES.notices]: 'KeywordList',
  [SEARCH_ATTRIBUTES.noticedAt]: 'Datetime',
};

/** Memo key of an agent's workflow: the beginning of its first message, for lists. */
export const MESSAGE_MEMO = 'holdfastMessage';
export const messageMemo = (message: string | undefined): Record<string, string> =>
  message === undefined ? {} : { [MESSAGE_MEMO]: label(message) };

/** Memo key of an enrolled host's workflow `host`: the namespace of its sessions. */
export const HOST_NAMESPACE_MEMO = 'holdfastNamespace';

/**
 * How long the server waits for a worker that was killed during a workflow task. Nothing else covers that moment, and
 * Temporal's default of 10 s is long for waiting callers. A replay that takes longer is not lost: from the fourth
 * attempt on, the server extends the timeout (`getStartToCloseTimeout` of its workflow task state machine).
 */
export const WORKFLOW_TASK_TIMEOUT = '3s';
