// Lists agents from the server's visibility store: no worker has to answer, and what happened a second ago may be missing.
import { createHash } from 'node:crypto';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { agentIdOf } from '../../contracts/ids';
import type { AgentState } from '../../contracts/agents/agent';
import { latestFailure, type ListedFailure } from '../../contracts/agents/failures';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { MESSAGE_MEMO, SEARCH_ATTRIBUTES, WORKFLOWS } from '../../contracts/messages';
import { listAgentsSchema } from '../../contracts/schemas/agent';
import { parseWith } from '../../contracts/schemas/parse';
import type { WaitsFor } from '../../contracts/agents/waits';
import { requestFailure } from '../delivery/request-failure';
import { readListed } from '../delivery/list-workflows';
import { lacksAttribute } from '../delivery/with-attributes';

export interface ListAgentsRequest {
  /** `ended` lists those that have ended, however; the others list open agents. Default: every state. */
  state?: AgentState['status'] | undefined;
  waitsFor?: WaitsFor | undefined;
  /** Part of the id or of the beginning of the first message, in any case. */
  text?: string | undefined;
  /** Without `state`: whether those that have ended are listed, too. Default false. */
  ended?: boolean | undefined;
}

export interface AgentEntry {
  id: string;
  workflowId: string;
  runId: string;
  /** Null, like `waitsFor`, where the server or the agent's release lacks the search attributes. */
  state: AgentState['status'] | null;
  waitsFor: WaitsFor | null;
  /** The beginning of its first message; null if it has none, or one that cannot be read here: sealed with another's key. */
  message: string | null;
  /** ISO 8601, like the end's. */
  startedAt: string;
  /** The agent that has started it; null for the topmost. */
  parent: string | null;
  /** Its last turn ended without what was asked for: `why` is an error's code, or the reason of the end. */
  failure: ListedFailure | null;
  /** Null while it is open. `how` is Temporal's word: `completed`, `failed`, `canceled`, `terminated`, `timed_out`. */
  end: { at: string | null; how: string } | null;
}

export interface AgentPageRequest extends ListAgentsRequest {
  /** Most agents to return, 1 to 1,000. Default 100. */
  limit?: number | undefined;
  /** `next` of the page before. */
  cursor?: string | undefined;
}

const DEFAULT_PAGE = 100;
const MAX_PAGE = 1_000;

export class AgentDirectory {
  constructor(
    private readonly client: Client,
    private readonly address: string,
  ) {}

  /** Pages are read as the iteration needs them. Throws `invalid_input`. */
  async *list(request: ListAgentsRequest = {}): AsyncGenerator<AgentEntry> {
    for (let cursor: string | undefined; ;) {
      const page = await this.page({ ...request, limit: MAX_PAGE, cursor });
      yield* page.items;
      if (page.next === null) return;
      cursor = page.next;
    }
  }

  /**
   * One page, newest first. It may be short, even empty, and still have a next one: `text` is looked for here. Throws
   * `invalid_input`, also for a cursor that is not of such a list.
   */
  async page({ limit = DEFAULT_PAGE, cursor, ...request }: AgentPageRequest = {}): Promise<{
    items: AgentEntry[];
    next: string | null;
  }> {
    const { text, ...filter } = parseWith(listAgentsSchema, 'The filter of agents', request);
    const sought = text?.toLowerCase();
    const { workflowService, options } = this.client;
    const { namespace } = options;
    const query = queryOf(filter);
    const nextPageToken = cursor === undefined ? undefined : readCursor(cursor, query);
    try {
      const listed = await workflowService.listWorkflowExecutions({
        ...{ namespace, query, pageSize: limit },
        ...(nextPageToken && { nextPageToken }),
      });
      const infos = await Promise.all(listed.executions.map((raw) => readListed(this.client, raw)));
      const items = infos
        .map(entryOf)
        .filter(({ id, message }) => !sought || `${id}\n${message ?? ''}`.toLowerCase().includes(sought));
      const { length } = listed.nextPageToken;
      return { items, next: length > 0 ? cursorOf(listed.nextPageToken, query) : null };
    } catch (err) {
      throw lacksAttribute(err) ? missingAttributes(request) : (requestFailure(err, this.address) ?? err);
    }
  }
}

/** The server's own, which holds for the same query only: the server does not say what is wrong with another. */
const cursorOf = (token: Uint8Array, query: string): string =>
  `${markOf(query)}.${Buffer.from(token).toString('base64url')}`;

const markOf = (query: string): string => createHash('sha256').update(query).digest('hex').slice(0, 8);

function readCursor(cursor: string, query: string): Buffer {
  const [, mark, token] = /^([0-9a-f]{8})\.([\w-]+)$/.exec(cursor) ?? [];
  if (mark === markOf(query) && token) return Buffer.from(token, 'base64url');
  throw new HoldfastError('invalid_input', {
    what: 'The cursor',
    got: JSON.stringify(cursor),
    allowed: '"next" of the page before, with the same filter',
  });
}

function queryOf({ state, waitsFor, ended = false }: ListAgentsRequest): string {
  const isOver = 'ExecutionStatus != "Running" AND ExecutionStatus != "ContinuedAsNew"';
  const open = 'ExecutionStatus = "Running"';
  const hasState = (value: string): string => `${SEARCH_ATTRIBUTES.state} = "${value}"`;
  const which =
    state === 'ended'
      ? // Of those that were terminated, the attribute says what they were doing then.
        `(${hasState(state)} OR (${isOver}))`
      : state !== undefined
        ? `${open} AND ${hasState(state)}`
        : ended
          ? 'ExecutionStatus != "ContinuedAsNew"'
          : open;
  const waits = waitsFor === undefined ? '' : ` AND ${SEARCH_ATTRIBUTES.waitsFor} = "${waitsFor}"`;
  return `WorkflowType = "${WORKFLOWS.agent}" AND ${which}${waits}`;
}

function entryOf(info: WorkflowExecutionInfo): AgentEntry {
  const { workflowId, runId, memo, searchAttributes, startTime, closeTime, status, parentExecution } = info;
  const attribute = (name: string): string | null => {
    const [value] = searchAttributes[name] ?? [];
    return typeof value === 'string' ? value : null;
  };
  const isOpen = status.name === 'RUNNING';
  const message = memo?.[MESSAGE_MEMO];
  const notices = searchAttributes[SEARCH_ATTRIBUTES.notices] ?? [];
  const hasFailed = attribute(SEARCH_ATTRIBUTES.waitsFor) === 'retry' && status.name !== 'CONTINUED_AS_NEW';
  return {
    id: agentIdOf(workflowId),
    workflowId,
    runId,
    state: isOpen ? (attribute(SEARCH_ATTRIBUTES.state) as AgentEntry['state']) : 'ended',
    waitsFor: isOpen ? (attribute(SEARCH_ATTRIBUTES.waitsFor) as AgentEntry['waitsFor']) : 'none',
    message: typeof message === 'string' ? message : null,
    startedAt: startTime.toISOString(),
    parent: /^agent\/(.+)$/.exec(parentExecution?.workflowId ?? '')?.[1] ?? null,
    failure: (hasFailed && latestFailure(notices)) || null,
    end: isOpen ? null : { at: closeTime?.toISOString() ?? null, how: status.name.toLowerCase() },
  };
}

function missingAttributes(request: ListAgentsRequest): HoldfastError {
  const { state, waitsFor } = SEARCH_ATTRIBUTES;
  return new HoldfastError('invalid_input', {
    what: 'The filter of agents',
    got: JSON.stringify(request),
    allowed: `no "state" and no "waitsFor" here: the server lacks the search attribute ${state} or ${waitsFor}`,
    next:
      `Have its operator add them (temporal operator search-attribute create --name ${state} --type Keyword ` +
      `--name ${waitsFor} --type Keyword), restart the workers, and list again.`,
  });
}
