// One exec session, as clients see it.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  WithStartWorkflowOperation,
  WorkflowFailedError,
  type Client,
  type Workflow,
  type WorkflowHandle,
} from '@temporalio/client';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { sessionWorkflowId, type SessionRef } from '../contracts/ids';
import { WORKFLOWS, WORKFLOW_TASK_TIMEOUT } from '../contracts/messages';
import type { Message } from '../contracts/messages/message';
import { SESSION_MESSAGES as MESSAGES } from '../contracts/messages/to-sessions';
import { isPassing } from '../contracts/errors/passing';
import { recentOutput } from '../contracts/sessions/recent-output';
import { parseRequest } from '../contracts/schemas/parse-request';
import type {
  ExecRequest,
  InputRequest,
  OutputRequest,
  ResetRequest,
  SessionInput,
  WaitRequest,
} from '../contracts/schemas/session';
import type { CommandView, SessionState, WaitResult } from '../contracts/sessions/session';
import type {
  CancelToolsRequest,
  ToolCallAnswer,
  ToolCallRequest,
  ToolResults,
  ToolResultsRequest,
} from '../contracts/tools/tools';
import { attributesOfSession, attributesOfState, NEW_SESSION_STATE } from '../contracts/agents/work-state';
import { deliver, type Delivery } from './delivery/deliver';
import { PATIENCE_MS, type ServerFacts } from './server-facts';
import { sendSignal, sendUpdate, updateOptions, type Update } from './delivery/send-message';
import { queryHost } from './hosts/query-host';
import { withAttributes, type StartAttributes } from './delivery/with-attributes';

/** The server returns a recorded answer at once. */
const RECORDED_MS = 1_000;

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 500;

export interface OpenedOptions {
  /** In milliseconds. Default 60,000. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

export class SessionHandle {
  readonly workflowId: string;

  /** Throws `invalid_input` for invalid ids and numbers. Nothing is started yet. */
  constructor(
    /** The client for the namespace of the session's workflow. */
    private readonly home: () => Promise<Client>,
    readonly ref: SessionRef,
    private readonly settings: Pick<SessionInput, 'cwd' | 'idleMs' | 'yield'>,
    private readonly server: ServerFacts,
  ) {
    this.workflowId = sessionWorkflowId(ref);
  }

  /**
   * Runs code, opening the session if needed, and answers at the command's end or its yield.
   * @param id repeating the id with the same code returns the same command's answer and runs nothing; with other code
   *   it throws `id_conflict`
   * @param signal once it aborts, the command is not sent, or not again: it would open a session that was closed meanwhile
   */
  async exec(request: ExecRequest, id: string = randomUUID(), signal?: AbortSignal): Promise<CommandView> {
    const command = { id, ...parseRequest(MESSAGES.exec, request) };
    const send = (updateId: string): Promise<CommandView> =>
      this.updateWithStart({ message: MESSAGES.exec, request: command, id: updateId }, signal);
    const sentAt = Date.now();
    try {
      return await send(id);
    } catch (err) {
      if (!isPassing(err) || Date.now() - sentAt > RECORDED_MS) throw err;
      // An error this soon is the server's recorded answer for this id. The command itself runs once, whatever the
      // update's id.
      return send(`${id}/${randomUUID()}`);
    }
  }

  /** The error itself, or for `busy` one with the current output of the running command, if it can be had. */
  async withRecent(err: unknown, id: string = randomUUID()): Promise<unknown> {
    if (!(err instanceof HoldfastError) || err.code !== 'busy') return err;
    try {
      const { from, output } = await this.output({}, id);
      return new HoldfastError('busy', { session: this.ref.session, from, recent: recentOutput(output) });
    } catch {
      return err;
    }
  }

  /** Opens the session and its terminal, so that the first command need not wait for them. */
  async open(id: string = randomUUID()): Promise<CommandView> {
    return this.updateWithStart({ message: MESSAGES.open, request: undefined, id });
  }

  /** Types into the running process and answers when it has reacted or yields. Throws `no_running_process`. */
  async input(request: InputRequest, id: string = randomUUID()): Promise<CommandView> {
    return this.update(MESSAGES.input, { id, ...parseRequest(MESSAGES.input, request) }, id);
  }

  /** The session's output and state; at once, or after a wait. */
  async output(request: OutputRequest = {}, id: string = randomUUID()): Promise<CommandView> {
    return this.update(MESSAGES.output, parseRequest(MESSAGES.output, request), id);
  }

  /** Ends everything that runs in the session. The next command gets a fresh shell. */
  async reset(request: ResetRequest = {}, id: string = randomUUID()): Promise<CommandView> {
    return this.update(MESSAGES.reset, { id, ...parseRequest(MESSAGES.reset, request) }, id);
  }

  /** Waits for this and other sessions of the same agent and host; costs the history of one message. */
  async wait(request: WaitRequest, id: string = randomUUID()): Promise<WaitResult> {
    return this.update(MESSAGES.wait, parseRequest(MESSAGES.wait, request), id);
  }

  /** For host workers: runs a tool for a script. Repeating the id returns the recorded outcome and runs nothing. */
  callTool(request: ToolCallRequest): Promise<ToolCallAnswer> {
    return this.update(MESSAGES.toolCall, request, request.id);
  }

  /** For host workers: outcomes of long-running calls, when one of them has ended, or after a while. */
  toolResults(request: ToolResultsRequest): Promise<ToolResults> {
    return this.update(MESSAGES.toolResults, request, randomUUID());
  }

  /** For host workers: these calls are not waited for any longer. */
  async cancelTools(request: CancelToolsRequest): Promise<void> {
    await this.deliver((handle) => sendSignal(handle, MESSAGES.cancelTools, request));
  }

  /** The session's state. Also works for a closed session. */
  async state(): Promise<SessionState> {
    return queryHost(await this.delivery(), MESSAGES.state);
  }

  /**
   * Resolves once the session is open and a command has begun in it: for those who follow or answer what an agent runs there.
   * Throws `not_found` if that is not so after `timeoutMs`, and the signal's reason if that aborts.
   */
  async opened({ timeoutMs = PATIENCE_MS, signal }: OpenedOptions = {}): Promise<SessionState> {
    const until = performance.now() + timeoutMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      signal?.throwIfAborted();
      const state = await this.stateIfAny();
      if (state && state.status !== 'closed' && (state.command ?? state.view?.commandId)) return state;
      if (performance.now() >= until) {
        const facts = { what: 'A command in the session', got: this.workflowId };
        throw new HoldfastError('not_found', {
          ...facts,
          ...(state?.status === 'closed' && { ended: true }),
        });
      }
      await delay(pauseMs, undefined, { signal });
    }
  }

  /** The session's state; undefined if there has never been one. */
  async stateIfAny(): Promise<SessionState | undefined> {
    try {
      return await this.state();
    } catch (err) {
      if (err instanceof HoldfastError && err.code === 'not_found') return undefined;
      throw err;
    }
  }

  /** Ends everything in the session and the session itself. */
  async close(reason: string): Promise<void> {
    await this.deliver((handle) => sendSignal(handle, MESSAGES.close, { reason }));
  }

  /**
   * Resolves when the session's workflow has ended, for whatever reason, also over a restart of the server. Throws
   * `not_found` for a session that the server does not know.
   * @param needsWorker throws `no_worker` and `worker_silent` rather than wait for a worker, too
   */
  async closed({ needsWorker = false } = {}): Promise<void> {
    await this.deliver(
      (handle) =>
        handle.result().catch((err: unknown) => {
          if (!(err instanceof WorkflowFailedError)) throw err;
        }),
      { needsWorker },
    );
  }

  /** Signals input without waiting for its effect, as operators and other SDKs do. */
  async signalInput(request: InputRequest): Promise<void> {
    // With an id, because a signal whose acknowledgement is lost is sent again.
    const identified = { id: randomUUID(), ...parseRequest(MESSAGES.input, request) };
    await this.deliver((handle) => sendSignal(handle, MESSAGES.input, identified));
  }

  private updateWithStart<Request>(
    update: Update<Request, CommandView>,
    signal?: AbortSignal,
  ): Promise<CommandView> {
    const attributes = [...attributesOfSession(this.ref), ...attributesOfState(NEW_SESSION_STATE)];
    const send = (client: Client, given: StartAttributes): Promise<CommandView> => {
      const startWorkflowOperation = new WithStartWorkflowOperation(WORKFLOWS.execSession, {
        ...given,
        workflowId: this.workflowId,
        taskQueue: this.server.queue,
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
        args: [this.settings],
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `shell ${this.ref.session} of ${this.ref.agent} on ${this.ref.host}`,
      });
      const options = { ...updateOptions(client, update), startWorkflowOperation };
      return client.workflow.executeUpdateWithStart<Workflow, CommandView, [unknown?]>(
        update.message.name,
        options,
      );
    };
    return this.deliver((_handle, client) => withAttributes(attributes, (given) => send(client, given)), {
      signal,
    });
  }

  private update<Request, Answer>(
    message: Message<Request, Answer, 'update'>,
    request: Request,
    id: string,
  ): Promise<Answer> {
    const { workflowId } = this;
    return this.deliver((_handle, client) => sendUpdate(client, workflowId, { message, request, id }));
  }

  private async deliver<T>(
    send: (handle: WorkflowHandle, client: Client) => Promise<T>,
    how: Partial<Pick<Delivery, 'needsWorker' | 'signal'>> = {},
  ): Promise<T> {
    const to = { ...(await this.delivery()), ...how };
    return deliver(to, () => send(to.client.workflow.getHandle(to.workflowId), to.client));
  }

  private async delivery(): Promise<Delivery> {
    const { workflowId, server } = this;
    return { client: await this.home(), server, workflowId, needsWorker: true, what: 'The session' };
  }
}
