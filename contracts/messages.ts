// Names of workflows and their messages. Outside callers depend on them: a change here is a breaking one.

export const WORKFLOWS = {
  agent: 'agent',
  turn: 'turn',
  execSession: 'execSession',
  host: 'host',
  claim: 'claim',
  /** Internal: brings a part of a large value from one machine to another. */
  carryBlob: 'carryBlob',
} as const;

export const AGENT_MESSAGES = {
  /** Signal and update: one more message; the update answers with the turn's result. */
  send: 'send',
  /** Signal: ends the turn, closes the sessions, ends the agent. */
  stop: 'stop',
  /** Signal and update: ends the turn and resets the sessions; the conversation goes on. */
  recover: 'recover',
  /** Signal and update: ends the turn at work, as a message that interrupts does, with no message in its place. */
  interrupt: 'interrupt',
  state: 'state',
  transcript: 'transcript',
  /** Update: starts a sub-agent. */
  spawn: 'spawn',
  /** Update: waits for sub-agents. */
  waitForAgents: 'waitForAgents',
  /** Signal, from a turn: wants to be told when sub-agents have ended. */
  awaitAgents: 'awaitAgents',
  /** Signal, from a session or a turn, and from the agent to its turn: what waits for an approval there. */
  questions: 'questions',
  /** Signal, from a sub-agent: it has ended. */
  agentEnded: 'agentEnded',
} as const;

/** Of turns, from their agents. */
export const TURN_MESSAGES = {
  /** Signal: it is to end before its next step. */
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
  /** Signal: look at the output again, so that the query `output` is fresh. */
  poll: 'poll',
  /** Signal: end the tree and the workflow. */
  close: 'close',
  state: 'state',
  /** Update, from the host worker: a script calls a tool. */
  toolCall: 'toolCall',
  /** Update, from the host worker: what became of calls that take long. */
  toolResults: 'toolResults',
  /** Signal, from the host worker: nobody waits for these calls any more. */
  cancelTools: 'cancelTools',
  /** Signal, from the host worker: the command outlives its yield. */
  yielded: 'yielded',
} as const;

/** Of sessions and turns, and of agents, which hand them on. */
export const APPROVAL_MESSAGES = {
  /** Signal and update: yes to what waits. */
  approve: 'approve',
  /** Signal and update: no to it. */
  deny: 'deny',
  /** Query: what waits. */
  approvals: 'approvals',
} as const;

/** Of the workflow that says whether a host is there. */
export const HOST_MESSAGES = {
  /** Signal, from the host: it is there, and this is what it can do now. */
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
} as const;

/** Their types, in the spelling of Temporal's command line. */
export const SEARCH_ATTRIBUTE_TYPES: Readonly<Record<string, 'Keyword' | 'Int'>> = {
  [SEARCH_ATTRIBUTES.agent]: 'Keyword',
  [SEARCH_ATTRIBUTES.host]: 'Keyword',
  [SEARCH_ATTRIBUTES.session]: 'Int',
};

/** Of the workflow `host` of an enrolled host: where its sessions are. */
export const HOST_NAMESPACE_MEMO = 'holdfastNamespace';

/**
 * How long the server waits for a worker that was killed in a workflow task. Nothing else covers that moment, and
 * Temporal's own 10 s are long for callers that wait. A replay that takes longer is not lost: from the fourth attempt on
 * the server adds seconds to it (`getStartToCloseTimeout` of its workflow task state machine).
 */
export const WORKFLOW_TASK_TIMEOUT = '3s';
