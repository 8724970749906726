// `holdfast rewind`: brings back an earlier state of files, conversation or both.
import type { AgentHandle } from '../../client/agents/agent-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { RewindResult, RewoundPart } from '../../contracts/workspaces/rewinds';
import { agentId, wholeNumber } from '../arguments';
import { openContext } from '../context';
import type { GlobalOptions } from '../global-options';
import { action, examples, type Define } from '../define-command';
import { sameServer, sameSession } from '../print/next-step';
import { printJson } from '../print/print-json';
import { changeLines, printLines, rewindRemarks } from '../print/workspace-lines';
import { note } from '../terminal/terminal-style';

interface RewindCommandOptions extends GlobalOptions {
  to: number;
  files?: boolean;
  conversation?: boolean;
  both?: boolean;
  dryRun?: boolean;
  force?: boolean;
  stop?: boolean;
}

export const define: Define = (command) =>
  command
    .requiredOption('--to <n>', 'the step; 0: before the first', wholeNumber)
    .option('--files', 'only the files')
    .option('--conversation', 'only the conversation')
    .option('--both', 'both (default; for an agent that has ended: only the files)')
    .option('--dry-run', 'say what would change, and change nothing')
    .option('--force', 'also where somebody else has changed files; theirs stay in a checkpoint')
    .option('--stop', 'end what runs in its sessions first')
    .addHelpText(
      'after',
      examples(
        'holdfast rewind review --to 4 --dry-run    what would change',
        'holdfast rewind review --to 4              files and conversation as after step 4',
        'holdfast rewind review --to 4 --files      it is told that its files changed',
      ),
    )
    .action(action((id: string, options: RewindCommandOptions) => rewind(agentId(id), options)));

/** Some files are not as they were. */
const NOT_ALL = 3;

/** Exits with 0 also if there was nothing to bring back. */
async function rewind(agent: string, options: RewindCommandOptions): Promise<number> {
  const { to, dryRun, force, stop } = options;
  const what = partOf(options);
  await using context = await openContext(options, { start: false, restarts: true });
  const asked = {
    ...(what && { what }),
    ...(dryRun && { dryRun }),
    ...(force && { force }),
    ...(stop && { stop }),
  };
  const rewound = await context.client.agent(agent).workspace.rewind(to, asked);
  if (options.json) printJson({ agent, dryRun: dryRun ?? false, ...rewound });
  else await printRewind(context.client.agent(agent), rewound, options);
  return rewound.files?.notRestored ? NOT_ALL : 0;
}

function partOf({ files, conversation, both }: RewindCommandOptions): RewoundPart | undefined {
  const asked = Object.entries({ files, conversation, both }).flatMap(([part, isAsked]) =>
    isAsked ? [part as RewoundPart] : [],
  );
  if (asked.length <= 1) return asked[0];
  const got = asked.map((part) => `--${part}`).join(' and ');
  throw new HoldfastError('invalid_input', {
    what: 'The part',
    got,
    allowed: 'one of --files, --conversation, --both',
  });
}

async function printRewind(
  agent: AgentHandle,
  result: RewindResult,
  options: RewindCommandOptions,
): Promise<void> {
  if (result.files) printLines(changeLines(result.files.changes));
  const isDry = options.dryRun ?? false;
  const undo = (step: number): string => `holdfast rewind ${agent.id} --to ${step}${sameServer(options)}`;
  // Only a command that still runs needs the host. What was done is printed also without it.
  const state = result.running.length > 0 ? await agent.ownState().catch(() => undefined) : undefined;
  const host = state?.host;
  const reset = (session: number): string =>
    `holdfast reset${sameSession({ ...options, agent: agent.id, host, session })}`;
  for (const remark of rewindRemarks({ result, isDry, undo, reset })) note(remark);
}
