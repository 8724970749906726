// Bare Temporal: the same durable steps as Holdfast's, with nothing around them. What ours are measured against.
import { condition, defineSignal, defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow';

interface BareActivities {
  work(input: { code: string }): Promise<string>;
  callSession(input: { workflowId: string }): Promise<string>;
}

const options = { startToCloseTimeout: '1 minute', heartbeatTimeout: '10s' } as const;
const { work, callSession } = proxyActivities<BareActivities>(options);
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
