// How a turn ended, for people and for exit codes.
import type { AgentResult } from '../../contracts/agents/agent';
import { HoldfastError, isErrorCode } from '../../contracts/errors/holdfast-error';
import { draw } from '../terminal/guarded-output';
import { inert } from '../terminal/inert-text';
import type { GivenOptions } from './next-step';
import { reportError } from './report-error';
import { note } from '../terminal/terminal-style';
import { usageText } from './usage-text';
import { counted } from '../../contracts/text/counted';

/** EX_TEMPFAIL of sysexits: it ended without an answer, and the next message continues. */
const NO_ANSWER = 75;

/** An agent of another release may know codes that this one does not. */
export function errorOf({ error }: AgentResult): HoldfastError | null {
  if (!error) return null;
  const { code, message, facts } = error;
  if (isErrorCode(code)) return HoldfastError.received(code, facts);
  return new HoldfastError('internal', { reason: `${String(code)}: ${message}` });
}

/** 0 for an answer, the code of the error that ended it, 75 for any other end. */
export const resultCode = (result: AgentResult): number =>
  result.reason === 'answered' ? 0 : (errorOf(result)?.exitCode ?? NO_ANSWER);

/** Only the answer on stdout; how a turn without one ended on stderr. */
export function printResult(result: AgentResult, given: GivenOptions): void {
  if (result.answer !== null) draw(`${inert(result.answer).replace(/\n$/, '')}\n`);
  const error = errorOf(result);
  if (error) reportError(error, false, given);
  else if (result.reason !== 'answered') note(`[${resultText(result)}]`);
}

/** For example `answered after 2 steps; 1,200 tokens in, 90 out`. */
export function resultText({ reason, steps, usage }: AgentResult): string {
  const end = `${reason.replaceAll('_', ' ')} after ${counted(steps, 'step')}`;
  return [end, usageText(usage)].filter((part) => part).join('; ');
}
