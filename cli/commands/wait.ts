// `holdfast wait`: waits for one or several sessions, instead of polling them.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { Wait, WaitResult } from '../../contracts/sessions/session';
import { openContext } from '../context';
import type { GlobalOptions } from '../global-options';
import { inertLine } from '../../contracts/text/inert';
import { draw } from '../terminal/guarded-output';
import { inert } from '../terminal/inert-text';
import { printJson } from '../print/print-json';
import { note, styled } from '../terminal/terminal-style';
import { factsOf } from '../print/view-facts';
import { DEFAULT_AGENT, LOCAL_HOST } from '../../contracts/ids';
import { agentId, hostName, sessionNumber, wholeNumber } from '../arguments';
import { action, examples, type Define } from '../define-command';

interface WaitOptions extends GlobalOptions {
  agent: string;
  host: string;
  for: Wait;
  any?: boolean;
  timeoutMs: number;
}

export const define: Define = (command) =>
  command
    .option('--agent <id>', 'whose sessions', agentId, DEFAULT_AGENT)
    .option('--host <name>', 'on which host', hostName, LOCAL_HOST)
    .option('--for <what>', 'exit, output, idle, needs_input or pattern:RE', 'exit')
    .option('--any', 'any one of them is enough')
    .option('--timeout-ms <ms>', 'the longest wait', wholeNumber, 3_600_000)
    .addHelpText(
      'after',
      examples(
        'holdfast wait 1 2                        until both have ended',
        'holdfast wait 1 2 --for needs_input --any',
      ),
    )
    .action(action((sessions: string[], options: WaitOptions) => wait(sessions.map(sessionNumber), options)));

/** Exits with 0 when the condition is met, with 75 (EX_TEMPFAIL of sysexits) on timeout. */
const TIMED_OUT = 75;

async function wait(sessions: number[], options: WaitOptions): Promise<number> {
  const { agent, host, any, timeoutMs, json } = options;
  const first = sessions[0];
  if (first === undefined) {
    throw new HoldfastError('invalid_input', {
      what: 'The sessions',
      got: 'none',
      allowed: 'at least one number',
    });
  }
  await using context = await openContext(options, { start: false, restarts: true });
  if (!json) note(`waiting for ${options.for} in ${where(sessions, any)}`);
  const session = context.client.session({ agent, host, session: first });
  const mode = any ? 'any' : 'all';
  const result = await session.wait({ sessions, for: options.for, mode, waitMs: timeoutMs });
  if (json) printJson(result);
  else printResult(result);
  return result.met ? 0 : TIMED_OUT;
}

const where = (sessions: readonly number[], any = false): string =>
  sessions.length === 1
    ? `session ${sessions[0]}`
    : `${any ? 'any' : 'all'} of the sessions ${sessions.join(', ')}`;

function printResult({ met, sessions }: WaitResult): void {
  for (const { reason, view } of sessions) {
    const came = reason === 'timeout' ? 'not yet' : inertLine(reason.replace('_', ' '));
    process.stdout.write(
      `${styled('bold', `session ${view.session}`)}  ${came}  ${styled('dim', factsOf(view))}\n`,
    );
    const last = inert(view.output).trimEnd().split('\n').slice(-3);
    for (const line of last) if (line !== '') draw(`  ${line}\n`);
  }
  if (!met) note('The timeout came first; the programs keep running.');
}
