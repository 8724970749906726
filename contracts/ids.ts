// Names that outside callers depend on: ids, workflow ids and task queues. Pure.
import type { Shell } from './agents/agent';
import { HoldfastError } from './errors/holdfast-error';
import { asJson } from './text/as-json';

/** Every id must match this before it becomes part of a path, a workflow id or a queue name. */
export const ID_PATTERN = /^[a-z0-9][a-z0-9_-]{0,62}$/;
export const ID_RULE = '1 to 63 of a-z, 0-9, "_" and "-", beginning with a letter or digit';
/** For ids that callers give to messages, to mean "the same message again"; they are hashed before use in a path. */
export const MESSAGE_ID_MAX_CHARS = 200;
export const MAX_SESSION_NUMBER = 999_999;

export const MAIN_TASK_QUEUE = 'holdfast';
/** The machine beside the embedded server. */
export const LOCAL_HOST = 'local';
/** The host of an agent's shells. */
export const hostNameOf = ({ host }: { host?: string | undefined }): string => host ?? LOCAL_HOST;
/** The agent that command-line sessions belong to if none is named. */
export const DEFAULT_AGENT = 'cli';

/** One exec session: a persistent shell of an agent on a host. */
export interface SessionRef {
  agent: string;
  host: string;
  session: number;
  /** The data folder that has its shell, once the session knows it: no other folder may act on it. */
  folderId?: string;
}

export const hostTaskQueue = (host: string): string => `host.${checkedId('host', host)}`;
export const agentWorkflowId = (agent: string): string => `agent/${checkedId('agent', agent)}`;
export const turnWorkflowId = (agent: string, turn: number): string =>
  `${agentWorkflowId(agent)}/turn/${turn}`;
export const sessionWorkflowId = ({ agent, host, session }: SessionRef): string =>
  `exec/${checkedId('agent', agent)}/${checkedId('host', host)}/${checkedSession(session)}`;

/** A session as others name it, with its workflow. */
export const shellOf = ({ agent, host, session }: SessionRef): Shell => ({
  host,
  session,
  workflowId: sessionWorkflowId({ agent, host, session }),
});

/** For a host in its own trust domain. */
const HOST_NAMESPACE = 'holdfast-host-';
export const hostNamespace = (host: string): string => `${HOST_NAMESPACE}${checkedId('host', host)}`;
export const isHostNamespace = (namespace: string): boolean => namespace.startsWith(HOST_NAMESPACE);

export const hostWorkflowId = (host: string): string => `host/${checkedId('host', host)}`;

/** Reads `agent/<id>`; any other workflow id is returned as it is. */
export const agentIdOf = (workflowId: string): string => workflowId.replace(/^agent\//, '');

/** Reads `exec/<agent>/<host>/<n>`; undefined for any other workflow id. */
export function parseSessionWorkflowId(workflowId: string): SessionRef | undefined {
  const [kind, agent, host, n, ...rest] = workflowId.split('/');
  if (kind !== 'exec' || !agent || !host || !n || rest.length > 0 || !/^\d{1,6}$/.test(n)) return undefined;
  return ID_PATTERN.test(agent) && ID_PATTERN.test(host) ? { agent, host, session: Number(n) } : undefined;
}

/** What a workflow of ours is about. */
export interface Subject {
  agent?: string;
  turn?: number;
  host?: string;
  session?: number;
}

/** What the workflow of an agent, a turn, a session or a host is about; empty for other workflows. */
export function subjectOf(workflowId: string): Subject {
  const session = parseSessionWorkflowId(workflowId);
  if (session) return session;
  const [, agent, turn] = /^agent\/([^/]+)(?:\/turn\/(\d+))?$/.exec(workflowId) ?? [];
  if (agent) return { agent, ...(turn !== undefined && { turn: Number(turn) }) };
  const [, host] = /^host\/([^/]+)$/.exec(workflowId) ?? [];
  return host ? { host } : {};
}

/** The kinds of workflow that people and backends send messages to. */
export const WORKFLOW_KINDS = ['agent', 'session'] as const;
export type WorkflowKind = (typeof WORKFLOW_KINDS)[number];

/** The kind of a workflow id; undefined for turns and for workflows that are not ours. */
export function workflowKind(workflowId: string): WorkflowKind | undefined {
  if (parseSessionWorkflowId(workflowId)) return 'session';
  const [kind, agent, ...rest] = workflowId.split('/');
  return kind === 'agent' && agent && ID_PATTERN.test(agent) && rest.length === 0 ? 'agent' : undefined;
}

/** Throws `invalid_input` unless `value` names a task queue for agents: an id that is not a host's queue. */
export const checkedQueue = (value: unknown): string => checkedId('queue', value);

/** Throws `invalid_input` unless `value` is an id. */
export function checkedId(what: string, value: unknown): string {
  if (typeof value === 'string' && ID_PATTERN.test(value)) return value;
  throw new HoldfastError('invalid_input', {
    what: `The ${what} id`,
    got: asJson(value),
    allowed: ID_RULE,
  });
}

/** Throws `invalid_input` for a relative path: relative to what, on a host that may be another machine, is not said. */
export function checkedFolder(value: string | undefined): void {
  if (value !== undefined && !isAbsolutePath(value))
    throw new HoldfastError('invalid_input', {
      what: 'The working folder `cwd`',
      got: asJson(value),
      allowed: 'an absolute path on the host',
    });
}

/** Whether a path is absolute on a host, which runs Linux; this machine may not. */
export const isAbsolutePath = (value: string): boolean => value.startsWith('/');

/** The value itself. Throws `invalid_input` unless it is an object: a caller's code may not have been compiled. */
export function checkedObject<T>(what: string, value: T, allowed: string): T {
  if (typeof value === 'object' && value !== null) return value;
  throw new HoldfastError('invalid_input', { what, got: asJson(value), allowed });
}

export const isSessionNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_SESSION_NUMBER;

/** Throws `invalid_input` unless `value` is a whole number from 0 to 999999. */
export function checkedSession(value: unknown): number {
  if (isSessionNumber(value)) return value;
  throw new HoldfastError('invalid_input', {
    what: 'The session',
    got: asJson(value),
    allowed: `a whole number from 0 to ${MAX_SESSION_NUMBER}`,
  });
}
