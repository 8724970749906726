// Fetches a large value from the machine that has it, part by part. Each part is the result of a separate workflow, so
// that it is in no history that is replayed.
import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { asSummary } from '../../contracts/text/labels';
import { WORKFLOWS, WORKFLOW_TASK_TIMEOUT } from '../../contracts/messages';
import type { BlobRef } from '../../contracts/tools/tools';
import { deliver } from './deliver';
import type { HoldfastClient } from '../holdfast-client';
import { workflowResult } from './workflow-result';

/** If a part takes longer, no worker is serving it. */
const PART_TIMEOUT = '2 minutes';

/** The bytes, unchecked: the caller compares their hash. Throws if a part cannot be fetched. */
export async function fetchBlob(
  { temporal: client, server }: HoldfastClient,
  { sha256, bytes, at, object }: BlobRef & { at: string },
  signal: AbortSignal,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let from = 0; from < bytes;) {
    signal.throwIfAborted();
    const workflowId = `blob/${sha256.slice(0, 16)}/${from}/${randomUUID()}`;
    const to = { client, server, workflowId, needsWorker: true, what: 'The value' };
    const part = await deliver(to, () =>
      carried({ client, queue: server.queue, workflowId }, { at, sha256, from, object }),
    );
    const content = Buffer.from(part, 'base64');
    if (content.length === 0) throw new Error(`it ends after ${from} of ${bytes} bytes`);
    parts.push(content);
    from += content.length;
  }
  return Buffer.concat(parts);
}

/** Repeating the id finds the part that is on its way or has arrived. */
async function carried(
  { client, queue, workflowId }: { client: HoldfastClient['temporal']; queue: string; workflowId: string },
  input: { at: string; sha256: string; from: number; object: string | undefined },
): Promise<string> {
  try {
    await client.workflow.start(WORKFLOWS.carryBlob, {
      workflowId,
      taskQueue: queue,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
      workflowExecutionTimeout: PART_TIMEOUT,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      args: [input],
      staticSummary: asSummary(`part of ${input.sha256.slice(0, 16)} from ${input.at}`),
    });
  } catch (err) {
    if (!(err instanceof WorkflowExecutionAlreadyStartedError)) throw err;
  }
  return (await workflowResult(client, workflowId)) as string;
}
