// A worker that serves no workflow of ours: it answers each query, update and start as a test says. What a command of
// ours shows of it is what whoever may serve a task queue or a host can have it show.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';

type Payloads = temporal.api.common.v1.IPayloads;
type Task = temporal.api.workflowservice.v1.PollWorkflowTaskQueueResponse;
type Answered = temporal.api.workflowservice.v1.IRespondWorkflowTaskCompletedRequest;
type Failure = temporal.api.failure.v1.IFailure;

interface Outcome {
  success?: Payloads;
  failure?: Failure;
}

export interface Asked {
  /** `start`, `signal`: the workflow ends with the answer, unless that is undefined. */
  kind: 'query' | 'update' | 'signal' | 'start';
  workflowId: string;
  type: string;
  /** Of the query, the update or the last signal. */
  name: string;
  /** Of the update. */
  request?: unknown;
}

/** To be thrown by `answer`. */
export class Refusal extends Error {}

const { Acceptance, Request, Response } = temporal.api.update.v1;
const PROTOCOL_MESSAGE = temporal.api.enums.v1.CommandType.COMMAND_TYPE_PROTOCOL_MESSAGE;
const COMPLETE = temporal.api.enums.v1.CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION;
const POLLERS = 4;
/** Longer than the server lets a poll wait. */
const POLL_MS = 70_000;
const typeUrl = (name: string): string => `type.googleapis.com/temporal.api.update.v1.${name}`;

export class HostileWorker {
  private readonly over = new AbortController();
  private readonly polling: Promise<void>[];

  constructor(
    private readonly client: Client,
    private readonly taskQueue: string,
    private readonly answer: (asked: Asked) => unknown,
  ) {
    this.polling = Array.from({ length: POLLERS }, () => this.poll());
  }

  async close(): Promise<void> {
    this.over.abort();
    await Promise.all(this.polling);
  }

  private async poll(): Promise<void> {
    const { client, taskQueue, over } = this;
    const { namespace } = client.options;
    while (!over.signal.aborted) {
      try {
        const request = { namespace, taskQueue: { name: taskQueue }, identity: 'hostile' };
        const poll = (): Promise<Task> => client.workflowService.pollWorkflowTaskQueue(request);
        const task = await client.withAbortSignal(over.signal, () =>
          client.withDeadline(Date.now() + POLL_MS, poll),
        );
        if (task.taskToken.length > 0) await this.respond(task);
      } catch (err) {
        if (!over.signal.aborted) process.stderr.write(`the hostile worker: ${String(err)}\n`);
        await delay(50, undefined, { signal: over.signal }).catch(() => undefined);
      }
    }
  }

  private async respond(task: Task): Promise<void> {
    const { workflowService, options } = this.client;
    const { namespace } = options;
    const { taskToken, query } = task;
    if (query) {
      const result = this.queried(task, query.queryType ?? '');
      const completed = { ...result, completedType: result.resultType, queryResult: result.answer };
      await workflowService.respondQueryTaskCompleted({ namespace, taskToken, ...completed });
      return;
    }
    const answered: Answered = { namespace, taskToken, commands: [], messages: [], queryResults: {} };
    for (const [id, { queryType }] of Object.entries(task.queries))
      (answered.queryResults ??= {})[id] = this.queried(task, queryType ?? '');
    for (const message of task.messages) this.updated(task, message, answered);
    const end = this.endOf(task);
    if (end.success)
      answered.commands?.push({
        commandType: COMPLETE,
        completeWorkflowExecutionCommandAttributes: { result: end.success },
      });
    await workflowService.respondWorkflowTaskCompleted(answered);
  }

  private endOf(task: Task): Outcome {
    const signals = task.history?.events?.flatMap(
      (event) => event.workflowExecutionSignaledEventAttributes ?? [],
    );
    const last = signals?.at(-1);
    if (last) return this.outcome(task, 'signal', last.signalName ?? '');
    return Number(task.previousStartedEventId) === 0 ? this.outcome(task, 'start', '') : {};
  }

  private queried(
    task: Task,
    name: string,
  ): temporal.api.query.v1.IWorkflowQueryResult & { resultType: number } {
    const { success, failure } = this.outcome(task, 'query', name);
    return failure
      ? { resultType: 2, errorMessage: failure.message ?? '', failure }
      : { resultType: 1, answer: success ?? { payloads: [] } };
  }

  private updated(task: Task, message: temporal.api.protocol.v1.IMessage, answered: Answered): void {
    const request = Request.decode(message.body?.value ?? new Uint8Array());
    const { name, args } = request.input ?? {};
    const [first] = args?.payloads ?? [];
    const content: unknown = first && defaultPayloadConverter.fromPayload(first);
    const outcome = this.outcome(task, 'update', name ?? '', content);
    const id = message.protocolInstanceId ?? '';
    const accepted = {
      acceptedRequestMessageId: message.id ?? '',
      acceptedRequestSequencingEventId: message.eventId ?? null,
      acceptedRequest: request,
    };
    const bodies = [
      ['accept', 'Acceptance', Acceptance.encode(accepted).finish()],
      ['answer', 'Response', Response.encode({ meta: request.meta ?? {}, outcome }).finish()],
    ] as const;
    for (const [step, type, value] of bodies) {
      const messageId = `${id}/${step}`;
      const body = { type_url: typeUrl(type), value };
      answered.messages?.push({ id: messageId, protocolInstanceId: id, body });
      answered.commands?.push({
        commandType: PROTOCOL_MESSAGE,
        protocolMessageCommandAttributes: { messageId },
      });
    }
  }

  private outcome(task: Task, kind: Asked['kind'], name: string, request?: unknown): Outcome {
    const workflowId = task.workflowExecution?.workflowId ?? '';
    try {
      const value = this.answer({ kind, workflowId, type: task.workflowType?.name ?? '', name, request });
      if (value === undefined && (kind === 'start' || kind === 'signal')) return {};
      return { success: { payloads: [defaultPayloadConverter.toPayload(value)] } };
    } catch (err) {
      if (!(err instanceof Refusal)) throw err;
      const { message } = err;
      return { failure: { message, source: message, applicationFailureInfo: { type: message } } };
    }
  }
}
