// The results of internal workflows, with the catalogue's errors.
import { WorkflowFailedError, type Client } from '@temporalio/client';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { fromFailure } from '../../contracts/errors/failure';

/** Waits for the end. Throws the catalogue's error that the workflow failed with, otherwise an Error with the reason. */
export async function workflowResult(client: Client, workflowId: string): Promise<unknown> {
  try {
    return await client.workflow.getHandle(workflowId).result();
  } catch (err) {
    if (!(err instanceof WorkflowFailedError)) throw err;
    throw fromFailure(err.cause) ?? new Error(reasonOf(err.cause ?? err));
  }
}
