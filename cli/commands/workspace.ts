// `holdfast log`, `diff` and `rewind`: what an agent did to files, and bringing an earlier state back.
import type { DiffOptions } from '../../client/agents/agent-workspace';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { inertLine, inertText } from '../../contracts/text/inert';
import { label } from '../../contracts/text/labels';
import { changedIn, countsText, outcomeText } from '../../contracts/workspaces/change-texts';
import type { FileChange, FileChanges } from '../../contracts/workspaces/checkpoints';
import type { ConversationStep } from '../../contracts/workspaces/conversation-steps';
import type { RewindResult, RewoundPart } from '../../contracts/workspaces/rewinds';
import { openContext, type GlobalOptions } from '../context';
import { printJson } from '../print/print-json';
import { note, styled } from '../terminal/terminal-style';
import { counted } from '../../contracts/text/counted';

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
  await using context = await openContext(options, { start: false });
  const steps = await context.client.agent(agent).workspace.steps();
  if (options.json) printJson({ agent, steps });
  else if (steps.length === 0) note('It has no steps yet.');
  else for (const step of steps) process.stdout.write(`${lineOf(step)}\n`);
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
  await using context = await openContext(options, { start: false });
  const compared = await context.client.agent(agent).workspace.diff({ step, from, to, turn, lines: !stat });
  if (options.json) printJson({ agent, ...compared });
  else if (stat || compared.text === null) printChanges(compared.changes);
  else {
    for (const line of compared.text.split('\n').slice(0, -1)) process.stdout.write(`${painted(line)}\n`);
    if (compared.isCut)
      note('The rest of it is too long: see which files with --stat, and fewer steps with --step.');
  }
  return 0;
}

/** Exits with 0 also if there was nothing to bring back. */
export async function rewind(agent: string, options: RewindCommandOptions): Promise<number> {
  const { to, dryRun, force, stop } = options;
  const what = partOf(options);
  await using context = await openContext(options, { start: false });
  const asked = {
    ...(what && { what }),
    ...(dryRun && { dryRun }),
    ...(force && { force }),
    ...(stop && { stop }),
  };
  const rewound = await context.client.agent(agent).workspace.rewind(to, asked);
  if (options.json) printJson({ agent, dryRun: dryRun ?? false, ...rewound });
  else tell(agent, rewound, dryRun ?? false);
  return 0;
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

function tell(agent: string, { step, to, files, messages, running }: RewindResult, isDry: boolean): void {
  if (files) {
    printChanges(files.changes);
    if (changedIn(files.changes.counts) === 0) say(`The files are as they were after step ${to}.`);
    else say(isDry ? 'Nothing was changed yet.' : `The files are as they were after step ${to} again.`);
  }
  if (messages !== null)
    say(`The model ${isDry ? 'would forget' : 'forgets'} ${counted(messages, 'message')}.`);
  if (running.length > 0)
    say(
      `Commands still run in session ${running.join(', ')}, and may change files again: end them with --stop, or with ` +
        `\`holdfast reset --agent ${agent} --session ${running[0]}\`.`,
    );
  if (step !== null) say(`This is step ${step}. \`holdfast rewind ${agent} --to ${step - 1}\` undoes it.`);
}

/** What an agent's worker says may be hostile. */
const say = (text: string): void => note(inertLine(text));

function lineOf({ step, turn, kind, title, outcome, isRewound }: ConversationStep): string {
  const of = turn === null ? '' : `turn ${turn}`;
  const what = label(String(title), SHOWN_CHARACTERS).padEnd(SHOWN_CHARACTERS);
  const files = outcome ? outcomeText(outcome) : '';
  const line = inertLine(`${String(step).padStart(5)}  ${of.padEnd(8)} ${what}  ${files}`).trimEnd();
  if (isRewound) return styled('dim', `${line}  (taken back)`);
  return kind === 'rewind' ? styled('yellow', line) : line;
}

const SHOWN_CHARACTERS = 44;
const MARKS: Record<FileChange['kind'], string> = { added: 'A', modified: 'M', deleted: 'D' };

function printChanges({ counts, paths, omitted }: FileChanges): void {
  const lines = paths.map(({ path, kind, insertions, deletions }) => {
    const changed = insertions === undefined ? '' : `  +${insertions} -${deletions ?? 0}`;
    return `${MARKS[kind]} ${path}${changed}`;
  });
  if (omitted > 0) lines.push(`… and ${omitted} more`);
  for (const line of lines) process.stdout.write(`${inertLine(line)}\n`);
  say(countsText(counts));
}

function painted(line: string): string {
  const shown = inertText(line);
  if (/^(diff |index |--- |\+\+\+ |old mode|new mode|new file|deleted file)/.test(line))
    return styled('bold', shown);
  if (line.startsWith('@@')) return styled('cyan', shown);
  if (line.startsWith('+')) return styled('green', shown);
  return line.startsWith('-') ? styled('red', shown) : shown;
}
