// The checkpoints that the messages of a copied conversation name. They belong to the agent that they are from, and would be
// removed with it.
import { isCancellation, log } from '@temporalio/workflow';
import type { AgentInput } from '../../../contracts/schemas/agent';
import type { Message } from '../../../contracts/agents/agent';
import { reasonOf } from '../../../contracts/errors/holdfast-error';
import { hostNameOf } from '../../../contracts/ids';
import { label } from '../../../contracts/text/labels';
import { checkpointsIn } from '../../../contracts/workspaces/conversation-steps';
import { workspacesOn } from '../../turn/calls/tool-activities';

/** In the background, whenever its host is there: a copy begins without it, too. */
export async function keepCopied(
  agent: string,
  input: AgentInput,
  copied: readonly Message[],
): Promise<void> {
  const { from, workspace } = input;
  if (!from) return;
  const hashes = [...new Set([...checkpointsIn(copied), ...(workspace?.base ? [workspace.base] : [])])];
  if (hashes.length === 0) return;
  const { keepCheckpoints } = workspacesOn(hostNameOf(input), {
    startToCloseTimeout: '10 minutes',
    // It is not waited for.
    retry: { maximumInterval: '5 minutes' },
  });
  try {
    const summary = label('keep the checkpoints of the steps that it was given');
    await keepCheckpoints.executeWithOptions({ summary }, [{ agent, hashes }]);
  } catch (err) {
    if (isCancellation(err)) return;
    log.warn('the checkpoints of copied steps may be removed with the original', { reason: reasonOf(err) });
  }
}
