// Messages to workflows, typed by their entries in the tables of messages.
import { setTimeout as delay } from 'node:timers/promises';
import {
  isGrpcServiceError,
  WorkflowNotFoundError,
  type Client,
  type WorkflowHandle,
} from '@temporalio/client';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { AFTER_END, ASKED_TOO_EARLY, contentOf, type Message } from '../../contracts/messages/message';
import { PAUSE_MS } from './ask-server';
import { deliver, type Delivery } from './deliver';
import { updateIdOf } from './update-id';
import { isOver } from './workflow-end';

const MOST_TIMES_EARLY = 40;

const argsOf = (request: unknown): [unknown?] => (request === undefined ? [] : [request]);

export const sendSignal = <Request>(
  handle: WorkflowHandle,
  message: Message<Request, unknown, 'signal'>,
  request?: Request,
): Promise<void> => handle.signal(message.name, ...argsOf(request));

/**
 * What came before a worker was ready for it is asked again: for ten seconds, once the first worker is there. A workflow that
 * was terminated before it took its latest events answers as of the time before them.
 */
export async function sendQuery<Request, Answer>(
  handle: WorkflowHandle,
  message: Message<Request, Answer, 'query'>,
  request?: Request,
): Promise<Answer> {
  for (let again = 0; ; again++) {
    try {
      return await handle.query<Answer, [unknown?]>(message.name, ...argsOf(request));
    } catch (err) {
      // For the server it has no state; for its reader it is one that has ended.
      if (endedUnseen(err as Error))
        throw new WorkflowNotFoundError(reasonOf(err), handle.workflowId, undefined);
      if (again === MOST_TIMES_EARLY || !String(err).includes(ASKED_TOO_EARLY)) throw err;
      const found = await handle.describe();
      if (isOver(found)) {
        const ended = handle.client.getHandle(handle.workflowId, found.runId);
        return ended.query<Answer, [unknown?]>(`${message.name}${AFTER_END}`, ...argsOf(request));
      }
      await delay(PAUSE_MS);
    }
  }
}

/** It ended before a worker had taken it. The server's words: the code, FAILED_PRECONDITION, is also that of other faults. */
const endedUnseen = ({ cause }: { cause?: unknown }): boolean =>
  isGrpcServiceError(cause) && cause.details.includes('closed before WorkflowTaskStarted');

/** Asks until the server has answered. Throws like `deliver`. `runId`: of an earlier run. */
export const deliverQuery = <Request, Answer>(
  to: Delivery,
  message: Message<Request, Answer, 'query'>,
  request?: Request,
  runId?: string,
): Promise<Answer> =>
  deliver({ ...to, isQuery: true }, () =>
    sendQuery(to.client.workflow.getHandle(to.workflowId, runId), message, request),
  );

/** An update, and the id under which the same again gets the recorded answer. */
export interface Update<Request, Answer> {
  message: Message<Request, Answer, 'update'>;
  request: Request;
  id: string;
}

/** As Temporal's client takes it. */
export function updateOptions<Request, Answer>(
  client: Client,
  { message, request, id }: Update<Request, Answer>,
): { args: [unknown?]; updateId: string } {
  return { args: argsOf(request), updateId: updateIdOf(client, id, contentOf(message, request)) };
}

export function sendUpdate<Request, Answer>(
  client: Client,
  workflowId: string,
  update: Update<Request, Answer>,
): Promise<Answer> {
  const { args, updateId } = updateOptions(client, update);
  const handle = client.workflow.getHandle(workflowId);
  // The SDK's types want to know how many arguments there are.
  return handle.executeUpdate<Answer, [unknown]>(update.message.name, { args: args as [unknown], updateId });
}
