// Your own workflow, which lets an agent do part of the work. This is workflow code: bundled, deterministic.
import { agentError, executeAgent } from 'holdfast/workflows';

export interface ReleaseInput {
  version: string;
  model: string;
}

/** When cancelled, it cancels the agent, whose shells are closed before the workflow ends. */
export async function release({ version, model }: ReleaseInput): Promise<string> {
  try {
    const limits = { steps: 20, wallMs: 3_600_000 };
    const { answer, reason } = await executeAgent(`release-${version}`, {
      task: `Test version ${version}`,
      model,
      limits,
    });
    return reason === 'answered' ? `${version}: ${answer}` : `${version} was given up: ${reason}`;
  } catch (err) {
    const known = agentError(err);
    if (!known) throw err;
    return `${version} could not be tested: ${known.code}`;
  }
}
