// A workflow of one's own that has an agent do a part of the work. It is workflow code: bundled, deterministic.
import { agentError, executeAgent } from 'holdfast/workflows';

export interface ReleaseInput {
  version: string;
  model: string;
}

/** Cancelled, it cancels the agent, and its shells are closed before it ends. */
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
