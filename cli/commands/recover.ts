// `holdfast recover`: ends what an agent is doing, and keeps its conversation.
import { agentId } from '../arguments';
import { openContext } from '../context';
import type { GlobalOptions } from '../global-options';
import { action, examples, type Define } from '../define-command';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';

interface RecoverOptions extends GlobalOptions {
  reason?: string;
}

export const define: Define = (command) =>
  command
    .option('--reason <text>', 'recorded and shown')
    .addHelpText('after', examples('holdfast recover review --reason "the build hangs"'))
    .action(action((id: string, options: RecoverOptions) => recover(agentId(id), options)));

async function recover(agent: string, options: RecoverOptions): Promise<number> {
  await using context = await openContext(options, { start: false, restarts: true });
  const handle = context.client.agent(agent);
  const state = await handle.recover(options.reason ?? 'holdfast recover');
  if (options.json) printJson(state);
  else note(`Agent ${agent} continues with the next message; everything running in its sessions has ended.`);
  return 0;
}
