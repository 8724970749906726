// `holdfast exec`: one command in a session, its output live, its exit code passed on.
import { randomUUID } from 'node:crypto';
import { text as textFrom } from 'node:stream/consumers';
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import {
  LONGEST_WAIT_MS,
  type CommandView,
  type Runtime,
  type YieldSettings,
} from '../../contracts/sessions/session';
import type { RemoteTerminal } from '../../exec/attach/remote-terminal';
import { CommandRecords, contentHash } from '../../exec/command-records';
import type { CommandRecord } from '../../exec/protocol';
import { quote, readableWord } from '../../contracts/text/shell-word';
import { sessionPaths } from '../../exec/session-paths';
import { folderOn } from '../arguments';
import { isLocal, openContext } from '../context';
import type { SessionOptions } from '../global-options';
import type { CliContext } from '../open-context';
import { followLog, followRemote, followSession, type Follower } from '../terminal/follow-log';
import { sameServer, sameSession } from '../print/next-step';
import { printJson } from '../print/print-json';
import { note, noteUnless } from '../terminal/terminal-style';
import { kindOfInput, typeInput } from '../terminal/typed-input';
import { wayTo, type WayOptions } from '../terminal/host-token';
import { RUNTIMES } from '../../contracts/sessions/session';
import { named, runtime, TOKEN_FILE, wholeNumber } from '../arguments';
import { action, examples, ofSession, type Define } from '../define-command';

interface ExecOptions extends WayOptions {
  runtime: Runtime;
  yieldMs?: number;
  reset?: boolean;
  checkImports?: boolean;
  id?: string;
  cwd?: string;
}

export const define: Define = (command) =>
  ofSession(command)
    .option('--runtime <name>', RUNTIMES.join(', '), runtime, 'terminal')
    .option(
      '--yield-ms <ms>',
      'return after this long if it has not ended; counted from its start, so after an approval',
      wholeNumber,
    )
    .option('--reset', 'end what runs in the session first')
    .option('--check-imports', 'run nothing of a script whose first imports are not installed')
    .option('--cwd <dir>', 'where a new session starts', named)
    .option('--id <id>', 'repeating an id returns the same result and runs nothing; other code is refused')
    .option('--token-file <file>', TOKEN_FILE, named)
    .addHelpText(
      'after',
      examples(
        "holdfast exec 'make test'                           output live, its exit code passed on",
        "holdfast exec --session 1 --yield-ms 500 './train.sh'   goes on in the background",
        "echo hello | holdfast exec 'wc -c'                  what comes in is typed when it waits for input",
        'holdfast exec --runtime python - < script.py        the code from stdin',
      ),
    )
    .action(action(exec));

/** A person at a command line waits for the end: only a prompt ends the wait earlier. */
const PATIENT_MS = LONGEST_WAIT_MS;

async function exec(text: string, given: ExecOptions): Promise<number> {
  const code = text === '-' ? await textFrom(process.stdin) : text;
  // It may be the same command again, from another folder: what is compared is where the session was opened.
  const options = { ...given, ...(given.cwd !== undefined && { cwd: folderOn(given.host, given.cwd) }) };
  await using context = await openContext(options, { start: true });
  if (!isLocal(context, options.host)) await context.client.hosts.require(options.host);
  const cwd = options.cwd ?? (context.uiUrl ? folderOn(options.host, undefined) : undefined);
  const session = context.client.session(options, cwd ? { cwd } : {});
  if (options.cwd !== undefined) await refuseOpen(session, options);
  const id = options.id ?? randomUUID();
  const follower = options.json ? undefined : await follow(context, session, { ...options, id, code });
  const watch = options.json ? undefined : reportApproval(context, session, options);
  const kind = text === '-' ? null : kindOfInput();
  const typing = { session, kind, settings: settingsOf(options) };
  const done = run(session, code, { ...options, id }).then((view) => typeInput(view, typing));
  const view = await interruptible(session, options, done)
    .catch(async (err: unknown) => {
      follower?.stop();
      // It was opened for this, and could begin nowhere else.
      const isWrong = err instanceof HoldfastError && err.code === 'no_working_folder';
      if (isWrong && options.cwd !== undefined) await session.close(err.message);
      throw await session.withRecent(err);
    })
    .finally(() => clearInterval(watch));
  await follower?.finish(view).catch((err: unknown) => noteUnshown(err, options, view));
  if (options.json) printJson(view);
  return exitCodeOf(view, options);
}

/** What became of the command is known all the same, and its exit code counts: sent again, it would run twice. */
function noteUnshown(err: unknown, options: ExecOptions, { from }: CommandView): void {
  if (!(err instanceof HoldfastError)) throw err;
  note(`The rest of its output is not shown: ${err.detail}`);
  note(`Look at it with \`holdfast output${sameSession(options)} --from ${from}\`.`);
}

function run(
  session: SessionHandle,
  code: string,
  { runtime, reset, checkImports, id, ...options }: ExecOptions & { id: string },
): Promise<CommandView> {
  const asked = { ...(reset && { reset }), ...(checkImports && { checkImports }) };
  return session.exec({ runtime, code, yield: settingsOf(options), ...asked }, id);
}

const settingsOf = ({ yieldMs: ms = PATIENT_MS }: Pick<ExecOptions, 'yieldMs'>): Partial<YieldSettings> => ({
  ...{ firstOutputMs: ms, betweenOutputMs: ms, maxMs: ms },
});

/** A shell that is open stays where it is: another folder is refused. Throws `invalid_input`. */
async function refuseOpen(session: SessionHandle, options: ExecOptions): Promise<void> {
  const state = await session.stateIfAny();
  // The same command again, to find its result, names the same folder.
  if (!state || state.status === 'closed' || state.cwd === options.cwd) return;
  const to = sameSession(options);
  const there = `cd ${readableWord(options.cwd ?? '')}`;
  throw new HoldfastError('invalid_input', {
    what: '--cwd',
    got: `${options.cwd} for session ${options.session}, which is open`,
    allowed: 'a session that is not open yet',
    next: `Go there with \`holdfast exec${to} ${quote(there)}\`, or close it first: \`holdfast close${to}\`.`,
  });
}

const LOOK_FOR_APPROVAL_MS = 2_000;

/** Says once that the command waits for an approval: it has no output before. */
function reportApproval(
  { client }: CliContext,
  { workflowId, ref }: SessionHandle,
  options: ExecOptions,
): NodeJS.Timeout {
  // Calls of scripts have the same ids in different sessions, and so may commands whose ids were chosen.
  const { agent, host, session } = ref;
  const where = ` --agent ${agent} --host ${host} --session ${session}`;
  const watch = setInterval(() => {
    client.approvals.of(workflowId).then(
      ([one]) => {
        if (!one) return;
        clearInterval(watch);
        const why = one.reasons.map(({ rule, found }) => `${rule}, ${found}`).join('; ');
        note(`It waits for an approval: ${why}`);
        const which = ` ${readableWord(one.id)}${where}${sameServer(options)}`;
        note(`Say yes with \`holdfast approve${which}\`, no with \`holdfast deny${which}\`.`);
      },
      () => undefined,
    );
  }, LOOK_FOR_APPROVAL_MS);
  return watch;
}

async function follow(
  context: CliContext,
  session: SessionHandle,
  options: ExecOptions & { id: string; code: string },
): Promise<Follower> {
  const { id, runtime, code } = options;
  if (isLocal(context, session.ref.host)) {
    const { log, commands } = sessionPaths(context.dataDir, session.ref);
    const records = new CommandRecords(commands);
    const hash = contentHash(runtime, code);
    // Other code under the id is refused: nothing of what ran under it is printed.
    const own = (): CommandRecord | undefined => {
      const record = records.read(id);
      return record?.contentHash === hash ? record : undefined;
    };
    return followLog(log, own);
  }
  // The command itself needs no direct connection: without one, its output arrives through Temporal.
  const way = await wayTo(context, options).catch((err: unknown) => {
    if (!(err instanceof HoldfastError)) throw err;
    if (err.code === 'attach_refused') note(err.message);
    return { terminal: null };
  });
  if (!way.terminal) return followSession(session, id);
  return followRemote(way.terminal, session, { id, start: await startIn(way.terminal, options) });
}

/** The log's end; null where something runs, or a reset ends what is left of it: output of that is not the command's. */
async function startIn(terminal: RemoteTerminal, { reset }: ExecOptions): Promise<number | null> {
  // Without a terminal there, nothing runs.
  const there = await terminal.ask('attach', { typist: null, size: null }).catch(() => undefined);
  if (!there) return terminal.end();
  return reset || there.running !== null ? null : there.end;
}

/** Ctrl-C goes to the command, as in any terminal; a second one leaves it running and exits with 130. */
async function interruptible(
  session: SessionHandle,
  options: ExecOptions,
  running: Promise<CommandView>,
): Promise<CommandView> {
  const report = noteUnless(options.json);
  let presses = 0;
  const onInterrupt = (): void => {
    presses += 1;
    if (presses > 1) {
      const to = sameSession(options);
      report(
        `The command keeps running: look with \`holdfast output${to}\`, end it with \`holdfast reset${to}\`.`,
      );
      process.exit(130);
    }
    report('Interrupting the command (Ctrl-C again leaves it running).');
    session.input({ keys: ['ctrl-c'] }).catch((err: unknown) => report(String(err)));
  };
  process.on('SIGINT', onInterrupt);
  try {
    return await running;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

/** 0 while the command keeps running: see `state` in the JSON; a program that only wants the end waits for it. */
export function exitCodeOf(
  view: CommandView,
  options: Pick<SessionOptions, 'json' | 'agent' | 'host' | 'session'>,
): number {
  const { json, session } = options;
  switch (view.state) {
    case 'exited':
      return view.exitCode ?? 137;
    case 'lost':
      throw new HoldfastError('session_lost', { session, reason: view.killedBy?.reason ?? 'unknown' });
    case 'running':
    case 'waiting_input': {
      if (json) return 0;
      const to = sameSession(options);
      process.stderr.write('\n');
      note(
        view.state === 'running'
          ? `The command still runs: look with \`holdfast output${to}\`, end it with \`holdfast reset${to}\`.`
          : `The command waits for input: answer with \`holdfast input${to} TEXT\`.`,
      );
      return 0;
    }
  }
}
