// What lists of agents, turns and sessions can be filtered by: two search attributes, and their words. Pure.
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { AgentState } from './agent';
import type { SessionRef } from '../ids';
import { SEARCH_ATTRIBUTES } from '../messages';
import type { SessionState } from '../sessions/session';
import type { WaitsFor } from './waits';

/** The states that last, as the agent's own state calls them. */
export const AGENT_STATES = [
  'working',
  'idle',
  'stopping',
  'ended',
] as const satisfies AgentState['status'][];

/** What the search attributes say; the words of `state` are those of the queries. */
export interface WorkState {
  state: AgentState['status'] | SessionState['status'];
  waitsFor: WaitsFor;
}

export const AGENT_KEY = defineSearchAttributeKey(SEARCH_ATTRIBUTES.agent, 'KEYWORD');
const HOST_KEY = defineSearchAttributeKey(SEARCH_ATTRIBUTES.host, 'KEYWORD');
const SESSION_KEY = defineSearchAttributeKey(SEARCH_ATTRIBUTES.session, 'INT');
export const STATE_KEY = defineSearchAttributeKey(SEARCH_ATTRIBUTES.state, 'KEYWORD');
export const WAITS_FOR_KEY = defineSearchAttributeKey(SEARCH_ATTRIBUTES.waitsFor, 'KEYWORD');
export const NOTICES_KEY = defineSearchAttributeKey(SEARCH_ATTRIBUTES.notices, 'KEYWORD_LIST');
export const NOTICED_AT_KEY = defineSearchAttributeKey(SEARCH_ATTRIBUTES.noticedAt, 'DATETIME');

export const attributesOfAgent = (agent: string): SearchAttributePair[] => [{ key: AGENT_KEY, value: agent }];

export const attributesOfSession = ({ agent, host, session }: SessionRef): SearchAttributePair[] => [
  { key: AGENT_KEY, value: agent },
  { key: HOST_KEY, value: host },
  { key: SESSION_KEY, value: session },
];

export const attributesOfState = ({ state, waitsFor }: WorkState): SearchAttributePair[] => [
  { key: STATE_KEY, value: state },
  { key: WAITS_FOR_KEY, value: waitsFor },
];

/** What a new agent is doing. */
export const firstState = (hasTask: boolean): WorkState =>
  hasTask ? { state: 'working', waitsFor: 'none' } : { state: 'idle', waitsFor: 'message' };

export const attributesOfNewAgent = (agent: string, hasTask: boolean): SearchAttributePair[] => [
  ...attributesOfAgent(agent),
  ...attributesOfState(firstState(hasTask)),
];

export const TURN_STATE: WorkState = { state: 'working', waitsFor: 'none' };
export const NEW_SESSION_STATE: WorkState = { state: 'idle', waitsFor: 'none' };

/** Patch of workflows that were started without these attributes; only where the server has them. */
export const STATE_PATCH = 'state-in-attributes';
