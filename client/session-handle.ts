// One exec session, as clients see it.
import { randomUUID } from 'node:crypto';
import {
  WithStartWorkflowOperation,
  WorkflowFailedError,
  type Client,
  type Workflow,
  type WorkflowHandle,
} from '@temporalio/client';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { sessionWorkflowId, type SessionRef } from '../contracts/ids';
import { SESSION_MESSAGES, WORKFLOWS, WORKFLOW_TASK_TIMEOUT } from '../contracts/messages';
import {
  callContent,
  execContent,
  inputContent,
  resetContent,
  type MessageContent,
} from '../contracts/message-content';
import { isPassing } from '../contracts/errors/passing';
import { recentOutput } from '../contracts/sessions/recent-output';
import { parseWith } from '../contracts/schemas/parse';
import {
  execSchema,
  inputSchema,
  outputSchema,
  resetSchema,
  waitRequestSchema,
} from '../contracts/schemas/session';
import type {
  CommandView,
  ExecRequest,
  InputRequest,
  OutputRequest,
  ResetRequest,
  SessionInput,
  SessionState,
  WaitRequest,
  WaitResult,
} from '../contracts/sessions/session';
import type {
  CancelToolsRequest,
  ToolCallAnswer,
  ToolCallRequest,
  ToolResults,
  ToolResultsRequest,
} from '../contracts/tools/tools';
import { attributesOfSession, attributesOfState, NEW_SESSION_STATE } from '../contracts/agents/work-state';
import { deliver, type ServerFacts } from './delivery/deliver';
import { updateIdOf } from './delivery/update-id';
import { withAttributes, type StartAttributes } from './delivery/with-attributes';

/** The server returns a recorded answer at once. */
const RECORDED_MS = 1_000;

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
   */
  async exec(request: ExecRequest, id: string = randomUUID()): Promise<CommandView> {
    const checked = parseWith(execSchema, 'The command', request);
    const send = (updateId: string): Promise<CommandView> =>
      this.updateWithStart(SESSION_MESSAGES.exec, [{ id, ...checked }], updateId, execContent(checked));
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
    return this.updateWithStart(SESSION_MESSAGES.open, [], id, ['open']);
  }

  /** Types into the running process and answers when it has reacted or yields. Throws `no_running_process`. */
  async input(request: InputRequest, id: string = randomUUID()): Promise<CommandView> {
    const message = { id, ...parseWith(inputSchema, 'The input', request, true) };
    return this.update(SESSION_MESSAGES.input, message, id, inputContent(message));
  }

  /** The session's output and state; at once, or after a wait. */
  async output(request: OutputRequest = {}, id: string = randomUUID()): Promise<CommandView> {
    const checked = parseWith(outputSchema, 'The output request', request);
    return this.update(SESSION_MESSAGES.output, checked, id, ['output', checked]);
  }

  /** Ends everything that runs in the session. The next command gets a fresh shell. */
  async reset(request: ResetRequest = {}, id: string = randomUUID()): Promise<CommandView> {
    const message = { id, ...parseWith(resetSchema, 'The reset request', request) };
    return this.update(SESSION_MESSAGES.reset, message, id, resetContent(message));
  }

  /** Waits for this and other sessions of the same agent and host; costs the history of one message. */
  async wait(request: WaitRequest, id: string = randomUUID()): Promise<WaitResult> {
    const checked = parseWith(waitRequestSchema, 'The wait request', request);
    return this.update<WaitResult>(SESSION_MESSAGES.wait, checked, id, ['wait', checked]);
  }

  /** For host workers: runs a tool for a script. Repeating the id returns the recorded outcome and runs nothing. */
  callTool(request: ToolCallRequest): Promise<ToolCallAnswer> {
    const content = callContent(request);
    return this.update<ToolCallAnswer>(SESSION_MESSAGES.toolCall, request, request.id, content);
  }

  /** For host workers: outcomes of long-running calls, when one of them has ended, or after a while. */
  toolResults(request: ToolResultsRequest): Promise<ToolResults> {
    const content: MessageContent = ['toolResults'];
    return this.update<ToolResults>(SESSION_MESSAGES.toolResults, request, randomUUID(), content);
  }

  /** For host workers: nobody is waiting for these calls any longer. */
  async cancelTools(request: CancelToolsRequest): Promise<void> {
    await this.deliver((handle) => handle.signal(SESSION_MESSAGES.cancelTools, request));
  }

  /** The session's state. Also works for a closed session. */
  state(): Promise<SessionState> {
    return this.deliver((handle) => handle.query<SessionState>(SESSION_MESSAGES.state));
  }

  /** Ends everything in the session and the session itself. */
  async close(reason: string): Promise<void> {
    await this.deliver((handle) => handle.signal(SESSION_MESSAGES.close, { reason }));
  }

  /** Resolves when the session's workflow has ended, for whatever reason. */
  async closed(): Promise<void> {
    const client = await this.home();
    await client.workflow
      .getHandle(this.workflowId)
      .result()
      .catch((err: unknown) => {
        if (!(err instanceof WorkflowFailedError)) throw err;
      });
  }

  /** Signals input without waiting for its effect, as operators and other SDKs do. */
  async signalInput(request: InputRequest): Promise<void> {
    const checked = parseWith(inputSchema, 'The input', request, true);
    // With an id, because a signal whose acknowledgement is lost is sent again.
    const identified = { id: randomUUID(), ...checked };
    await this.deliver((handle) => handle.signal(SESSION_MESSAGES.input, identified));
  }

  private updateWithStart(
    name: string,
    args: [] | [object],
    id: string,
    content: MessageContent,
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
      const options = { args, updateId: updateIdOf(client, id, content), startWorkflowOperation };
      return client.workflow.executeUpdateWithStart<Workflow, CommandView, [] | [object]>(name, options);
    };
    return this.deliver((_handle, client) => withAttributes(attributes, (given) => send(client, given)));
  }

  private update<T = CommandView>(
    name: string,
    request: object,
    id: string,
    content: MessageContent,
  ): Promise<T> {
    return this.deliver((handle, client) => {
      const updateId = updateIdOf(client, id, content);
      return handle.executeUpdate<T, [object]>(name, { args: [request], updateId });
    });
  }

  private async deliver<T>(send: (handle: WorkflowHandle, client: Client) => Promise<T>): Promise<T> {
    const { workflowId, server } = this;
    const client = await this.home();
    const to = { client, server, workflowId, needsWorker: true, what: 'The session' };
    return deliver(to, () => send(client.workflow.getHandle(workflowId), client));
  }
}
