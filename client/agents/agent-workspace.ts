// What an agent did to the files of its workspace, step by step, and how to bring an earlier state back.
import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { AgentState, Message, TranscriptPage } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { agentWorkflowId } from '../../contracts/ids';
import { rewindContent } from '../../contracts/message-content';
import { asSummary } from '../../contracts/text/labels';
import { WORKFLOWS, WORKFLOW_TASK_TIMEOUT } from '../../contracts/messages';
import { AGENT_MESSAGES } from '../../contracts/messages/to-agents';
import { parseRequest } from '../../contracts/schemas/parse-request';
import type { Comparison, RewoundWorkspace } from '../../contracts/workspaces/requests-to-hosts';
import {
  planRewind,
  stateAt,
  statesBetween,
  stepsOf,
  type AskedSteps,
  type ConversationStep,
} from '../../contracts/workspaces/conversation-steps';
import type { WantedWorkspace } from '../../contracts/schemas/checkpoint-shapes';
import type { RewindRequest } from '../../contracts/schemas/agent';
import type { RewindResult } from '../../contracts/workspaces/rewinds';
import { deliver, type Delivery } from '../delivery/deliver';
import { sendUpdate } from '../delivery/send-message';
import { updateIdOf } from '../delivery/update-id';
import { workflowResult } from '../delivery/workflow-result';

export interface DiffOptions extends AskedSteps {
  /** False: only which files. Default true. */
  lines?: boolean | undefined;
}

export type RewindOptions = Omit<RewindRequest, 'to' | 'id'>;

/** The agent whose workspace it is. */
interface ReadAgent {
  readonly id: string;
  ownState(): Promise<AgentState>;
  presentState(): Promise<AgentState>;
  transcript(from: number, limit: number): Promise<TranscriptPage>;
  turnPage(turn: number, from: number): Promise<TranscriptPage | undefined>;
}

export class AgentWorkspace {
  constructor(
    private readonly agent: ReadAgent,
    private readonly delivery: Delivery,
  ) {}

  /** The steps of the conversation, the oldest first, with what each did to files. */
  async steps(): Promise<ConversationStep[]> {
    return stepsOf((await this.conversation()).messages);
  }

  /** What changed. Throws `no_checkpoint`, `invalid_input`, `checkpoint_missing` and `host_offline`. */
  async diff({ lines = true, ...asked }: DiffOptions = {}): Promise<Comparison> {
    const { state, messages } = await this.conversation();
    const between = statesBetween(messages, asked);
    const { agent, host } = state;
    return (await this.ask(WORKFLOWS.compareCheckpoints, { host, agent, ...between, lines })) as Comparison;
  }

  /**
   * Brings back the files, the conversation or both as they were after a step. Throws `agent_working` during a turn,
   * `workspace_changed` if somebody else has changed files since, `no_checkpoint`, `invalid_input`; then nothing was
   * changed. Of an agent that has ended only the files can be brought back.
   */
  async rewind(to: number, options: RewindOptions = {}, id: string = randomUUID()): Promise<RewindResult> {
    const request = parseRequest(AGENT_MESSAGES.rewind, { id, to, ...options });
    const state = await this.agent.presentState();
    if (state.status === 'ended') return this.rewindEnded(state, request, id);
    const { client, workflowId } = this.delivery;
    return deliver(this.delivery, () =>
      sendUpdate(client, workflowId, { message: AGENT_MESSAGES.rewind, request, id }),
    );
  }

  /** A copy of the workspace as it was when the conversation had `count` messages. Throws `no_checkpoint`. */
  async at(count: number): Promise<WantedWorkspace> {
    const { state, messages } = await this.conversation();
    const hash = stateAt(messages, count);
    if (hash === null)
      throw new HoldfastError('no_checkpoint', {
        got: `the files at message ${count}`,
        allowed: 'a place at which they are known: after a step that could change files and has a checkpoint',
      });
    return { of: state.settings.cwd ?? null, hash };
  }

  private async rewindEnded(
    { agent, host, settings }: AgentState,
    request: RewindRequest,
    id: string,
  ): Promise<RewindResult> {
    const { to, what = 'files', dryRun = false, force = false } = request;
    if (what !== 'files')
      throw new HoldfastError('agent_closed', {
        reason: `it has ended, so that only its files can be brought back (\`--files\`)`,
      });
    const { messages } = await this.conversation();
    const { hash, expected, foreign } = planRewind(messages, to);
    if (hash === null)
      throw new HoldfastError('no_checkpoint', {
        got: `step ${to}`,
        allowed: 'another step, since what the files were then is not known',
      });
    const asked = { host, agent, cwd: settings.cwd ?? null, to: hash, expected, foreign, force, dryRun };
    // The content is part of the id: what was asked for under the same id before is not the answer to something else.
    const ownId = dryRun ? randomUUID() : updateIdOf(this.delivery.client, id, rewindContent(request));
    const { files, running } = (await this.ask(WORKFLOWS.rewindFiles, asked, ownId)) as RewoundWorkspace;
    return { step: null, to, files, messages: null, running };
  }

  /** All messages: of the turns that have ended, and of the running one. */
  private async conversation(): Promise<{ state: AgentState; messages: Message[] }> {
    const state = await this.agent.ownState();
    const { messages } = await this.agent.transcript(0, Math.max(1, state.messages));
    if (state.currentTurn === null) return { state, messages };
    // As many as the turn says at first: it goes on.
    for (let got = 0, total = 1; got < total;) {
      const page = await this.agent.turnPage(state.turns, got);
      if (!page || page.messages.length === 0) break;
      messages.push(...page.messages);
      if (got === 0) total = page.total;
      got += page.messages.length;
    }
    return { state, messages };
  }

  private ask(workflow: string, input: object, id: string = randomUUID()): Promise<unknown> {
    const { client, server } = this.delivery;
    const workflowId = `${workflow}/${this.agent.id}/${id}`;
    return deliver({ ...this.delivery, workflowId, what: 'The host' }, async () => {
      try {
        await client.workflow.start(workflow, {
          workflowId,
          taskQueue: server.queue,
          workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
          workflowIdConflictPolicy: 'USE_EXISTING',
          // One that failed has changed nothing, and may be asked for again. One that has ended is not run again, where
          // the connection was lost before its result came.
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          args: [input],
          staticSummary: asSummary(`files of ${agentWorkflowId(this.agent.id)}`),
        });
      } catch (err) {
        if (!(err instanceof WorkflowExecutionAlreadyStartedError)) throw err;
      }
      return workflowResult(client, workflowId);
    });
  }
}
