// `holdfast ps`: agents, turns and sessions that are open, and what each is at.
import type { CommandView, SessionState } from '../../contracts/session';
import { parseSessionWorkflowId } from '../../contracts/ids';
import { WORKFLOWS } from '../../contracts/messages';
import { openContext, type CliContext, type GlobalOptions } from '../context';
import { styled } from '../terminal-style';

interface Row {
  workflowId: string;
  type: string;
  since: string;
  /** What it is at; null when no worker answers. */
  doing: string | null;
  session?: SessionState;
}

const QUERY_MS = 3_000;

export async function ps(options: GlobalOptions): Promise<number> {
  const context = await openContext(options, { start: false });
  try {
    const rows = await openWorkflows(context);
    if (options.json) process.stdout.write(`${JSON.stringify(rows)}\n`);
    else printTable(rows);
    return 0;
  } finally {
    await context.close();
  }
}

async function openWorkflows({ client }: CliContext): Promise<Row[]> {
  const types = Object.values(WORKFLOWS).map((type) => `"${type}"`);
  const query = `WorkflowType IN (${types.join(', ')}) AND ExecutionStatus = "Running"`;
  const pending: Promise<Row>[] = [];
  for await (const { workflowId, type, startTime } of client.temporal.workflow.list({ query })) {
    const row = { workflowId, type, since: startTime.toISOString(), doing: null };
    const ref = parseSessionWorkflowId(workflowId);
    pending.push(
      ref
        ? inTime(client.session(ref).state()).then((session) =>
            session ? { ...row, doing: describe(session), session } : row,
          )
        : inTime(describeOther(client, workflowId, type)).then((doing) => ({ ...row, doing: doing ?? null })),
    );
  }
  return (await Promise.all(pending)).sort((a, b) => a.workflowId.localeCompare(b.workflowId));
}

async function describeOther(
  client: CliContext['client'],
  workflowId: string,
  type: string,
): Promise<string> {
  if (type !== WORKFLOWS.agent) return 'at work';
  const { status, currentTurn, queued } = await client.agent(workflowId.replace(/^agent\//, '')).state();
  return [status, currentTurn, queued > 0 ? `${queued} queued` : null].filter((part) => part).join(', ');
}

/** A table must not hang on one workflow whose worker is gone. */
function inTime<T>(work: Promise<T>): Promise<T | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), QUERY_MS).unref());
  return Promise.race([work, late]).catch(() => undefined);
}

function describe({ status, command, epoch, view }: SessionState): string {
  const what = command ? `${command.runtime} since ${command.startedAt}` : view && lastEnd(view);
  return [status.replace('_', ' '), what, `epoch ${epoch}`].filter((part) => part).join(', ');
}

function lastEnd({ exitCode, killedBy, state }: CommandView): string {
  return exitCode === null ? `last ended by ${killedBy?.by ?? state}` : `last exit code ${exitCode}`;
}

function printTable(rows: Row[]): void {
  if (rows.length === 0) process.stdout.write('nothing is open\n');
  const width = Math.max(0, ...rows.map(({ workflowId }) => workflowId.length));
  for (const { workflowId, since, doing } of rows) {
    process.stdout.write(
      `${styled('bold', workflowId.padEnd(width))}  ${since}  ${doing ?? 'no worker answers'}\n`,
    );
  }
}
