// `holdfast exec`: one command in a session, its output live, its exit code passed on.
import { randomUUID } from 'node:crypto';
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors';
import { LOCAL_HOST } from '../../contracts/ids';
import { LONGEST_WAIT_MS, type CommandView, type Runtime, type YieldSettings } from '../../contracts/session';
import { logEnd } from '../../exec/log-reader';
import { sessionPaths } from '../../exec/session-paths';
import { isLocal, openContext, type CliContext, type SessionOptions } from '../context';
import { followLog, followRemote, followSession, type Follower } from '../follow-log';
import { printJson } from '../print-json';
import { note } from '../terminal-style';
import { wayTo, type WayOptions } from '../way-to-host';

export interface ExecOptions extends WayOptions {
  runtime: Runtime;
  yieldMs?: number;
  id?: string;
  cwd?: string;
}

/** A person at a command line waits for the end: only a prompt ends the wait before. */
const PATIENT_MS = LONGEST_WAIT_MS;

export async function exec(code: string, options: ExecOptions): Promise<number> {
  await using context = await openContext(options, { start: true });
  const cwd = options.cwd ?? (options.host === LOCAL_HOST && context.uiUrl ? process.cwd() : undefined);
  const session = context.client.session(options, cwd ? { cwd } : {});
  const id = options.id ?? randomUUID();
  const follower = options.json ? undefined : await follow(context, session, { ...options, id });
  const watch = options.json ? undefined : tellOfApproval(context, session);
  const view = await interruptible(session, run(session, code, { ...options, id }))
    .catch((err: unknown) => {
      follower?.stop();
      throw err;
    })
    .finally(() => clearInterval(watch));
  await follower?.finish(view);
  if (options.json) printJson(view);
  return exitCodeOf(view, options);
}

function run(
  session: SessionHandle,
  code: string,
  { runtime, yieldMs, id }: ExecOptions & { id: string },
): Promise<CommandView> {
  const ms = yieldMs ?? PATIENT_MS;
  const settings: Partial<YieldSettings> = { firstOutputMs: ms, betweenOutputMs: ms, maxMs: ms };
  return session.exec({ runtime, code, yield: settings }, id);
}

const LOOK_FOR_APPROVAL_MS = 2_000;

/** Says once that the command waits for somebody: nothing comes out of it before. */
function tellOfApproval({ client }: CliContext, { workflowId }: SessionHandle): NodeJS.Timeout {
  const watch = setInterval(() => {
    client.approvals.of(workflowId).then(
      ([one]) => {
        if (!one) return;
        clearInterval(watch);
        const why = one.reasons.map(({ rule, found }) => `${rule}, ${found}`).join('; ');
        note(`It waits for an approval: ${why}`);
        note('Say yes with `holdfast approve`, no with `holdfast deny`.');
      },
      () => undefined,
    );
  }, LOOK_FOR_APPROVAL_MS);
  return watch;
}

async function follow(
  context: CliContext,
  session: SessionHandle,
  options: WayOptions & { id: string },
): Promise<Follower> {
  if (isLocal(context, session.ref.host)) {
    const { log } = sessionPaths(context.dataDir, session.ref);
    return followLog(log, logEnd(log));
  }
  // The command itself needs no way to the terminal: where there is none, its output comes as it can.
  const way = await wayTo(context, options).catch((err: unknown) => {
    if (!(err instanceof HoldfastError)) throw err;
    if (err.code === 'attach_refused') note(err.message);
    return { terminal: null };
  });
  return way.terminal ? followRemote(way.terminal) : followSession(session, options.id);
}

/** Ctrl-C goes to the command, as in any terminal; a second one leaves it running and us with 130. */
async function interruptible(session: SessionHandle, running: Promise<CommandView>): Promise<CommandView> {
  let presses = 0;
  const onInterrupt = (): void => {
    presses += 1;
    if (presses > 1) {
      note(
        `The command goes on in session ${session.ref.session}: look with \`holdfast output\`, end it with \`holdfast reset\`.`,
      );
      process.exit(130);
    }
    note('Interrupting the command (Ctrl-C again leaves it running).');
    session.input({ keys: ['ctrl-c'] }).catch((err: unknown) => note(String(err)));
  };
  process.on('SIGINT', onInterrupt);
  try {
    return await running;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

/** 0 when the command goes on: the JSON's `state` tells; a program that only wants the end waits for it. */
export function exitCodeOf(
  view: CommandView,
  { json, session }: Pick<SessionOptions, 'json' | 'session'>,
): number {
  switch (view.state) {
    case 'exited':
      return view.exitCode ?? 137;
    case 'lost':
      throw new HoldfastError('session_lost', { session, reason: view.killedBy?.reason ?? 'unknown' });
    case 'running':
    case 'waiting_input': {
      const what =
        view.state === 'running' ? 'still runs' : 'waits for input: answer with `holdfast input TEXT`';
      if (json) return 0;
      process.stderr.write('\n');
      note(`The command ${what} (session ${session}, offset ${view.to}).`);
      return 0;
    }
  }
}
