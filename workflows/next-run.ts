// How each workflow continues as new.
import { CancellationScope, makeContinueAsNewFunc, patched, type Workflow } from '@temporalio/workflow';

/**
 * The next run begins with the build that is current then, also where runs are pinned to the build that began them.
 * Servers without builds ignore that. Throws a cancellation that came with what the workflow waited for: the server tells
 * the next run nothing of it.
 */
export async function continueInNextRun<F extends Workflow>(...args: Parameters<F>): Promise<never> {
  const { consideredCancelled, cancelRequested } = CancellationScope.current();
  // Since 0.3. Before, it was lost. Asked only then: no other history has the patch.
  if (consideredCancelled && patched('cancelled-at-next-run')) await cancelRequested;
  return makeContinueAsNewFunc<F>({ initialVersioningBehavior: 'AUTO_UPGRADE' })(...args);
}
