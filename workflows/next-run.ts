// How each workflow continues as new.
import { CancellationScope, makeContinueAsNewFunc, type Workflow } from '@temporalio/workflow';

/**
 * The next run begins with the build that is current then, also where runs are pinned to the build that began them.
 * Servers without builds ignore that. Throws a cancellation that came with what the workflow waited for: the server reports
 * the next run nothing of it.
 */
export async function continueInNextRun<F extends Workflow>(...args: Parameters<F>): Promise<never> {
  const { consideredCancelled, cancelRequested } = CancellationScope.current();
  if (consideredCancelled) await cancelRequested;
  return makeContinueAsNewFunc<F>({ initialVersioningBehavior: 'AUTO_UPGRADE' })(...args);
}
