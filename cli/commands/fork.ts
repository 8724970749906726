// `holdfast fork`: another conversation that begins like this one.
import { agentId, wholeNumber } from '../arguments';
import { checkModel, modelInFull } from '../check-model';
import { openContext } from '../context';
import type { GlobalOptions } from '../global-options';
import { action, examples, type Define } from '../define-command';
import { sameServer } from '../print/next-step';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';
import { answer } from './send';

interface ForkOptions extends GlobalOptions {
  at?: number;
  model?: string;
  files?: boolean;
}

export const define: Define = (command) =>
  command
    .option('--at <n>', 'how many messages it begins with (default: all)', wholeNumber)
    .option('--model <provider:name>', 'another model (default: the same)')
    .option('--files', 'in a folder of its own, with the files of that moment (default: in the same folder)')
    .addHelpText(
      'after',
      examples(
        'holdfast fork review review-2                       all of it, to continue separately',
        'holdfast fork review review-3 --at 4 "rather so"    from before its fifth message',
        'holdfast fork review review-5 --at 4 --files        in a folder of its own, as the files were then',
        'holdfast fork review review-4 --model anthropic:claude-sonnet-4-5',
      ),
    )
    .action(
      action((id: string, newId: string, text: string | undefined, options: ForkOptions) =>
        fork(agentId(id), agentId(newId), text, options),
      ),
    );

/** Starts another conversation with the beginning of this one; with a message it answers that at once. */
async function fork(
  agent: string,
  id: string,
  message: string | undefined,
  { at, model, files, ...options }: ForkOptions,
): Promise<number> {
  const own = model === undefined ? {} : { model: modelInFull(model) };
  if (own.model !== undefined) await checkModel(options, own.model);
  await using context = await openContext(options, { start: false, restarts: true });
  const handle = context.client.agent(agent);
  const forked = await handle.fork(id, { ...own, ...(at !== undefined && { at }), ...(files && { files }) });
  const continued = `holdfast chat --agent ${id}${sameServer(options)}`;
  if (!options.json) note(`Agent ${id} is started: \`${continued}\` continues there.`);
  if (message !== undefined) return await answer(forked, message, 'queue', options);
  if (options.json) printJson({ agent: id, from: agent });
  return 0;
}
