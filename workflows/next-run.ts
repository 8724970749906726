// How each workflow continues as new.
import { makeContinueAsNewFunc, type Workflow } from '@temporalio/workflow';

/**
 * The next run begins with the build that is current then, also where runs are pinned to the build that began them.
 * Servers without builds ignore that.
 */
export const continueInNextRun = <F extends Workflow>(...args: Parameters<F>): Promise<never> =>
  makeContinueAsNewFunc<F>({ initialVersioningBehavior: 'AUTO_UPGRADE' })(...args);
