// While a person waits for an agent: what its turn and its sessions wait for, said once each.
import { setTimeout as delay } from 'node:timers/promises';
import { inertLine } from '../../contracts/text/inert';
import type { CliContext } from '../open-context';
import { parseSessionWorkflowId } from '../../contracts/ids';
import { sameServer, sameSession, type GivenOptions } from './next-step';
import { note } from '../terminal/terminal-style';
import { allWork, type Work } from './work';

const LOOK_MS = 2_000;

/** Ends with the signal. A look that fails is followed by another. */
export async function reportWaits(
  context: CliContext,
  agent: string,
  given: GivenOptions,
  signal: AbortSignal,
): Promise<void> {
  const reported = new Set<string>();
  for (;;) {
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const all = await allWork(context, { agent }).catch(() => []);
    for (const { workflowId, agent: whose, waits } of all) {
      // The same again after something else is news.
      const key = `${workflowId} ${waits?.for} ${waits?.since}`;
      if (signal.aborted || !waits || reported.has(key)) continue;
      // In a pipe only what may need somebody: how long a model thinks is of interest at a terminal.
      if (!waits.trouble && !process.stderr.isTTY) continue;
      if (!waits.trouble && Date.now() - Date.parse(waits.since) < LOOK_MS) continue;
      reported.add(key);
      const more = waits.trouble
        ? `; ${waits.trouble}`
        : hintOf(workflowId, waits, { ...given, agent: whose });
      note(inertLine(`     waits for ${waits.for}${more}`));
    }
  }
}

/** @param given of the run, with the agent that waits */
function hintOf(workflowId: string, waits: NonNullable<Work['waits']>, given: GivenOptions): string {
  const where = ` --agent ${given.agent}${sameServer(given)}`;
  if (waits.for.startsWith('an approval'))
    return `: \`holdfast approve${where}\`, or \`holdfast deny${where}\``;
  const ref = parseSessionWorkflowId(workflowId);
  if (!ref || !waits.for.startsWith('input')) return '';
  return `: \`holdfast input${sameSession({ ...given, ...ref })} TEXT\``;
}
