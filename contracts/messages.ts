// Names of workflows and their messages. Outside callers depend on them: any change here is a breaking change.

import { label } from './text/labels';

export const WORKFLOWS = {
  agent: 'agent',
  turn: 'turn',
  execSession: 'execSession',
  host: 'host',
  claim: 'claim',
  /** Internal: copies part of a large value from one machine to another. */
  carryBlob: 'carryBlob',
  /** Internal: tells a host without agents which tools its scripts may call beside the agents. */
  offeredTools: 'offeredTools',
} as const;

export const AGENT_MESSAGES = {
  /** Signal and update: one more message; the update answers with the turn's result. */
  send: 'send',
  /** Signal: ends the turn, closes the sessions, ends the agent. */
  stop: 'stop',
  /** Signal and update: ends the turn and resets the sessions; the conversation continues. */
  recover: 'recover',
  /** Signal and update: ends the running turn as an interrupting message does, but without a new message. */
  interrupt: 'interrupt',
  state: 'state',
  transcript: 'transcript',
  /** Update: starts a sub-agent. */
  spawn: 'spawn',
  /** Update: waits for sub-agents. */
  waitForAgents: 'waitForAgents',
  /** Signal, from a turn: asks to be told when sub-agents have ended. */
  awaitAgents: 'awaitAgents',
  /** Signal, from a session or a turn, and from the agent to its turn: the approvals pending there. */
  questions: 'questions',
  /** Signal, from a sub-agent: it has ended. */
  agentEnded: 'agentEnded',
} as const;

/** Messages from agents to their turns. */
export const TURN_MESSAGES = {
  /** Signal: end before the next step. */
  interrupt: 'interrupt',
  /** Signal: the answer to `awaitAgents`. */
  agentsEnded: 'agentsEnded',
} as const;

export const SESSION_MESSAGES = {
  /** Update: opens the terminal, so that the first command need not wait for it. */
  open: 'open',
  exec: 'exec',
  input: 'input',
  output: 'output',
  reset: 'reset',
  /** Update: waits for several sessions of the same agent and host at once. */
  wait: 'wait',
  /** Signal: reads the output again, so that the query `output` is fresh. */
  poll: 'poll',
  /** Signal: ends the process tree and the workflow. */
  close: 'close',
  state: 'state',
  /** Update, from the host worker: a script calls a tool. */
  toolCall: 'toolCall',
  /** Update, from the host worker: asks for the outcomes of long-running calls. */
  toolResults: 'toolResults',
  /** Signal, from the host worker: nobody is waiting for these calls any longer. */
  cancelTools: 'cancelTools',
  /** Signal, from the host worker: the command outlives its yield. */
  yielded: 'yielded',
} as const;

/** Messages to sessions and turns, and to agents, which forward them. */
export const APPROVAL_MESSAGES = {
  /** Signal and update: approves what is pending. */
  approve: 'approve',
  /** Signal and update: denies it. */
  deny: 'deny',
  /** Query: what is pending. */
  approvals: 'approvals',
} as const;

/** Messages to the workflow that tracks whether a host is online. */
export const HOST_MESSAGES = {
  /** Signal, from the host: it is online, with these capabilities. */
  announce: 'announce',
  /** Signal: it will not come back. */
  forget: 'forget',
  state: 'state',
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
} as const;

/** Their types, spelled as in Temporal's command line. */
export const SEARCH_ATTRIBUTE_TYPES: Readonly<Record<string, 'Keyword' | 'Int'>> = {
  [SEARCH_ATTRIBUTES.agent]: 'Keyword',
  [SEARCH_ATTRIBUTES.host]: 'Keyword',
  [SEARCH_ATTRIBUTES.session]: 'Int',
  [SEARCH_ATTRIBUTES.state]: 'Keyword',
  [SEARCH_ATTRIBUTES.waitsFor]: 'Keyword',
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
