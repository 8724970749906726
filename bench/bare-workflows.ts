// Bare Temporal: the same durable steps as Holdfast's, with nothing around them. The baseline.
import {
  condition,
  defineSignal,
  defineUpdate,
  executeChild,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';

interface BareActivities {
  work(input: { code: string }): Promise<string>;
  callSession(input: { workflowId: string }): Promise<string>;
  callOwnSession(input: { workflowId: string }): Promise<string>;
  endSession(input: { workflowId: string }): Promise<void>;
}

const PLAIN = { startToCloseTimeout: '1 minute' } as const;
const options = { startToCloseTimeout: '1 minute', heartbeatTimeout: '10s' } as const;
const { work, callSession } = proxyActivities<BareActivities>(options);
/** No heartbeats here: a hundred at once may each wait longer than such a timeout. */
const patient = proxyActivities<BareActivities>(PLAIN);
const onHost = proxyActivities<BareActivities>({ ...options, taskQueue: 'bare-host' });

export const execUpdate = defineUpdate<string, [{ code: string }]>('exec');
export const endSignal = defineSignal('end');

/** Update -> activity -> result. */
export async function bareSession(): Promise<void> {
  let ended = false;
  setHandler(execUpdate, (input) => onHost.work(input));
  setHandler(endSignal, () => void (ended = true));
  await condition(() => ended);
}

/** As many durable steps as a turn: a "model" activity, then a "tool" activity that updates a session. */
export async function bareTurn({ steps, session }: { steps: number; session: string }): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await work({ code: 'model' });
    await callSession({ workflowId: session });
  }
  await work({ code: 'answer' });
}

/** The same for an agent that opens its own session with its first step, and closes it at the end. */
export async function bareAgent({ steps }: { steps: number }): Promise<void> {
  const session = { workflowId: `${workflowInfo().workflowId}-session` };
  for (let step = 0; step < steps; step++) {
    await patient.work({ code: 'model' });
    await patient.callOwnSession(session);
  }
  await patient.work({ code: 'answer' });
  if (steps > 0) await patient.endSession(session);
}

/** An agent whose only turn starts others and waits for them: just the workflows and the model calls. */
export async function bareParent({ children }: { children: number }): Promise<void> {
  await executeChild(bareParentTurn, { workflowId: below('turn'), args: [{ children }] });
}

export async function bareParentTurn({ children }: { children: number }): Promise<void> {
  await patient.work({ code: 'model' });
  const child = (_: unknown, n: number): Promise<void> =>
    executeChild(bareChild, { workflowId: below(`child-${n}`) });
  await Promise.all(Array.from({ length: children }, child));
  await patient.work({ code: 'answer' });
}

/** One of the others: its turn answers at once. */
export async function bareChild(): Promise<void> {
  await executeChild(bareChildTurn, { workflowId: below('turn') });
}

export async function bareChildTurn(): Promise<void> {
  await patient.work({ code: 'answer' });
}

const below = (name: string): string => `${workflowInfo().workflowId}/${name}`;
