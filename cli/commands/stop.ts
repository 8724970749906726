// `holdfast stop`: ends an agent.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { agentId } from '../arguments';
import { openContext } from '../context';
import type { GlobalOptions } from '../global-options';
import { action, examples, type Define } from '../define-command';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';

interface StopOptions extends GlobalOptions {
  reason?: string;
}

export const define: Define = (command) =>
  command
    .option('--reason <text>', 'recorded and shown')
    .addHelpText('after', examples('holdfast stop review --reason "it is merged"'))
    .action(action((id: string, options: StopOptions) => stop(agentId(id), options)));

const WITHOUT_WORKER: readonly string[] = ['no_worker', 'worker_silent'];

/** Ends the agent, and waits until its sessions are closed. */
async function stop(agent: string, options: StopOptions): Promise<number> {
  await using context = await openContext(options, { start: false, restarts: true });
  const handle = context.client.agent(agent);
  await handle.stop(options.reason ?? 'holdfast stop');
  await handle.result({ needsWorker: true }).catch(async (err: unknown) => {
    if (!(err instanceof HoldfastError)) throw err;
    // A stopped task may end without an answer, or with an error. What else is wrong, such as a stuck turn, keeps it.
    if ((await handle.run()).isOver) return;
    if (WITHOUT_WORKER.includes(err.code) && !options.json)
      note(`The stop is recorded: agent ${agent} ends as soon as a worker runs.`);
    throw err;
  });
  if (options.json) printJson({ agent, stopped: true });
  else note(`Agent ${agent} has ended, and its sessions with it.`);
  return 0;
}
