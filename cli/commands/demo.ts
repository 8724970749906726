// `holdfast demo`: an agent works in real terminals; its worker is killed with SIGKILL in the middle; at the end,
// counts show that nothing was lost or done twice.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { resolveServer } from '../../client/connect';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { LOCAL_HOST } from '../../contracts/ids';
import { logEnd, readLog } from '../../exec/output/log-reader';
import { packageRoot } from '../../system/package-root';
import { sessionPaths } from '../../exec/session-paths';
import { runningWorker } from '../../workers/process/worker-record';
import { openContext, workflowLink } from '../context';
import type { GlobalOptions } from '../global-options';
import type { CliContext } from '../open-context';
import { leaveOnInterrupt } from '../waiting/leave-on-interrupt';
import { sameServer } from '../print/next-step';
import { inert } from '../terminal/inert-text';
import { printMessage } from '../print/print-message';
import { resultCode } from '../print/turn-result';
import { note, styled } from '../terminal/terminal-style';
import { counted } from '../../contracts/text/counted';
import { action, examples, type Define } from '../define-command';

export const define: Define = (command) =>
  command.addHelpText('after', examples('holdfast demo   it needs no model and no key')).action(action(demo));

const TASK = 'Audit the sources of this checkout, and show that nothing is lost on the way.';
const LINES = 20_000;
const KILL_AT_LINE = 5_000;
const LONG_SESSION = 1;
/**
 * Shorter than the long scripts, so that the agent continues while they run; longer than a short one takes on a slow
 * disk.
 */
const YIELD = { firstOutputMs: 10_000, betweenOutputMs: 4_000, maxMs: 5_000, promptMs: 1_000 };

async function demo(options: GlobalOptions): Promise<number> {
  refuseNamedServer(options);
  await using context = await openContext(options, { start: true, staysOnFullDisk: true });
  const id = `demo-${randomBytes(3).toString('hex')}`;
  const cwd = join(context.dataDir, 'demo', id);
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, 'sources'), packageRoot());
  const began = Date.now();
  const agent = context.client.agent(id);
  const model = `scripted:${join(packageRoot(), 'examples', 'demo', 'replies.yaml')}`;
  await agent.start({ task: TASK, model, cwd, yield: YIELD });
  const link = workflowLink(context, agent.workflowId);
  say(`web UI  ${link ?? 'of your server'}\n`);
  leaveOnInterrupt(link, options);
  const log = sessionPaths(context.dataDir, { agent: id, host: LOCAL_HOST, session: LONG_SESSION }).log;
  const ended = new AbortController();
  const killing = killWorkerAtLine(context, log, ended.signal);
  for await (const { message } of agent.follow()) printMessage(message);
  const result = await agent.result();
  say(`\n${inert(result.answer ?? result.reason)}\n`);
  ended.abort();
  const kill = await killing;
  if (!kill) {
    note('The agent ended before its worker was killed: there is nothing to count.');
    return resultCode(result);
  }
  return summarise({
    log,
    cwd,
    kill,
    seconds: (Date.now() - began) / 1_000,
    steps: result.steps,
    link,
    down: `npx holdfast down --sessions${sameServer(options)}`,
  });
}

/** Only beside the embedded server does the command line start another worker. */
function refuseNamedServer(options: GlobalOptions): void {
  const { isConfigured, address } = resolveServer(options, process.env);
  if (!isConfigured) return;
  throw new HoldfastError('invalid_input', {
    what: 'The Temporal server of the demo, which kills its worker',
    got: address,
    allowed: 'only the embedded one, whose worker is started again',
    next: 'Run it without --address and --profile, and unset TEMPORAL_ADDRESS and TEMPORAL_PROFILE.',
  });
}

interface Kill {
  line: number;
  pid: number;
  newPid: number;
  /** From the kill to the new worker being ready, its start included. */
  ms: number;
}

/** Undefined if the agent ended before. */
async function killWorkerAtLine(
  { dataDir }: CliContext,
  log: string,
  ended: AbortSignal,
): Promise<Kill | undefined> {
  while (countLines(log) < KILL_AT_LINE) {
    if (ended.aborted) return undefined;
    await delay(20);
  }
  const worker = runningWorker(dataDir);
  if (!worker)
    throw new HoldfastError('worker_failed', {
      reason: 'it was gone before the demo killed it',
      log: dataDir,
    });
  const { pid } = worker.identity;
  process.kill(pid, 'SIGKILL');
  const killedAt = Date.now();
  const line = countLines(log);
  say(styled('red', `\n  SIGKILL  worker ${pid} killed while the long script prints line ${line}\n`));
  // The command line's own watch starts a new one.
  for (;;) {
    const next = runningWorker(dataDir);
    if (next && next.identity.pid !== pid) {
      const ms = Date.now() - killedAt;
      say(
        styled(
          'green',
          `  NEW      worker ${next.identity.pid} ready after ${ms} ms, the script is at line ${countLines(log)}\n`,
        ),
      );
      return { line, pid, newPid: next.identity.pid, ms };
    }
    await delay(10);
  }
}

const countLines = (log: string): number =>
  readLog(log, 0, logEnd(log)).toString('latin1').split('\n').length - 1;

interface Outcome {
  log: string;
  cwd: string;
  kill: Kill;
  seconds: number;
  steps: number;
  link: string | null;
  /** The command that ends it all. */
  down: string;
}

function summarise({ log, cwd, kill, seconds, steps, link, down }: Outcome): number {
  const numbers = [
    ...readLog(log, 0, logEnd(log))
      .toString('utf8')
      .matchAll(/^line (\d+) /gm),
  ].map((m) => Number(m[1]));
  const lost = LINES - new Set(numbers).size;
  const repeated = numbers.length - new Set(numbers).size;
  const inOrder = numbers.every((n, index) => n === index + 1);
  const runs = readFileSync(join(cwd, 'runs'), 'utf8').trim().split('\n');
  const twice = runs.length - new Set(runs).size;
  const good = lost === 0 && repeated === 0 && inOrder && twice === 0;
  const rows = [
    [
      'long script',
      `${numbers.length} lines: ${lost} lost, ${repeated} repeated, ${inOrder ? 'in order' : 'out of order'}`,
    ],
    ['commands', `${new Set(runs).size} run, ${twice} of them twice`],
    ['worker', `${kill.pid} killed at line ${kill.line}; ${kill.newPid} took over ${kill.ms} ms later`],
    ['agent', `${counted(steps, 'step')} in ${seconds.toFixed(1)} s`],
    ['web UI', link ?? 'your server’s'],
    ['stop it all', down],
  ];
  say(styled('bold', `\n${good ? 'Nothing was lost, nothing was done twice.' : 'SOMETHING WENT WRONG'}\n`));
  for (const [name = '', text = ''] of rows) say(`  ${name.padEnd(12)}  ${text}\n`);
  return good ? 0 : 70;
}

function say(text: string): void {
  process.stdout.write(text);
}
