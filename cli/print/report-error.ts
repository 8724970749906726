// The only place where errors leave the command line: code, message and next step to stderr, exit code above 64.
import { inertText } from '../../contracts/text/inert';
import { knownError } from '../../system/known-error';
import { nextStep, type GivenOptions } from './next-step';
import { visibleJson } from './print-json';
import { continued, styled } from '../terminal/terminal-style';

/** Ends the process with an error: what draws on the terminal gives it back first, so that the error stays on it. */
export function exitWith(err: unknown, json: boolean, given: GivenOptions = {}): never {
  process.once('exit', () => reportError(err, json, given));
  process.exit(knownError(err).exitCode);
}

/** @param given options of the command line, for a next step that can be pasted */
export function reportError(err: unknown, json: boolean, given: GivenOptions = {}): number {
  const known = knownError(err);
  const next = nextStep(known, given);
  const message = `${known.detail} Next: ${next}`;
  if (json) process.stderr.write(`${visibleJson({ error: { ...known.toJSON(), message, next } })}\n`);
  else
    process.stderr.write(
      `${styled('red', `holdfast: ${known.code}`, process.stderr)}: ${continued(inertText(message))}\n`,
    );
  if (known.code === 'internal' && process.env.HOLDFAST_DEBUG) console.error(err);
  return known.exitCode;
}
