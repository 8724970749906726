// `holdfast log`, `diff` and `rewind`: what an agent did to files, and bringing an earlier state back.
import type { DiffOptions } from '../../client/agents/agent-workspace';
import type { AgentHandle } from '../../client/agents/agent-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { countsText } from '../../contracts/workspaces/change-texts';
import type { RewindResult, RewoundPart } from '../../contracts/workspaces/rewinds';
import { openContext, type GlobalOptions } from '../context';
import { sameServer, sameSession } from '../print/next-step';
import { printJson } from '../print/print-json';
import { changeLines, diffLines, rewindRemarks, stepLine } from '../print/workspace-lines';
import { note } from '../terminal/terminal-style';

export interface DiffCommandOptions
  extends GlobalOptions, Pick<DiffOptions, 'step' | 'from' | 'to' | 'turn'> {
  stat?: boolean;
}
export interface RewindCommandOptions extends GlobalOptions {
  to: number;
  files?: boolean;
  conversation?: boolean;
  both?: boolean;
  dryRun?: boolean;
  force?: boolean;
  stop?: boolean;
}

/** One line for each step. */
export async function log(agent: string, options: GlobalOptions): Promise<number> {
  await using context = await openContext(options, { start: false, restarts: true });
  const steps = await context.client.agent(agent).workspace.steps();
  if (options.json) printJson({ agent, steps });
  else if (steps.length === 0) note('It has no steps yet.');
  else print(steps.map(stepLine));
  return 0;
}

export async function diff(agent: string, options: DiffCommandOptions): Promise<number> {
  const { step, from, to, turn, stat = false } = options;
  if (step !== undefined && (from ?? to ?? turn) !== undefined)
    throw new HoldfastError('invalid_input', {
      what: '--step',
      got: 'another range beside it',
      allowed: 'one of --step, --turn, or --from and --to',
    });
  await using context = await openContext(options, { start: false, restarts: true });
  const compared = await context.client.agent(agent).workspace.diff({ step, from, to, turn, lines: !stat });
  if (options.json) printJson({ agent, ...compared });
  // An empty text: nothing has changed, and that is said.
  else if (stat || !compared.text) {
    print(changeLines(compared.changes));
    note(countsText(compared.changes.counts));
  } else {
    print(diffLines(compared.text));
    if (compared.isCut)
      note('The rest of it is too long: see which files with --stat, and fewer steps with --step.');
  }
  return 0;
}

/** Some files are not as they were. */
const NOT_ALL = 3;

/** Exits with 0 also if there was nothing to bring back. */
export async function rewind(agent: string, options: RewindCommandOptions): Promise<number> {
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
  else await tell(context.client.agent(agent), rewound, options);
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

async function tell(agent: AgentHandle, result: RewindResult, options: RewindCommandOptions): Promise<void> {
  if (result.files) print(changeLines(result.files.changes));
  const isDry = options.dryRun ?? false;
  const undo = (step: number): string => `holdfast rewind ${agent.id} --to ${step}${sameServer(options)}`;
  // Only a command that still runs needs the host. What was done is told also without it.
  const state = result.running.length > 0 ? await agent.ownState().catch(() => undefined) : undefined;
  const host = state?.host;
  const reset = (session: number): string =>
    `holdfast reset${sameSession({ ...options, agent: agent.id, host, session })}`;
  for (const remark of rewindRemarks({ result, isDry, undo, reset })) note(remark);
}

const print = (lines: readonly string[]): void => {
  for (const line of lines) process.stdout.write(`${line}\n`);
};
