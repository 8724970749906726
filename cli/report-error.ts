// The one place where errors leave the command line: code, message and next step to stderr, exit code above 64.
import { HoldfastError, reasonOf } from '../contracts/errors';
import { fromFailure } from '../contracts/failure';
import { inertFor } from './follow-log';
import { visibleJson } from './print-json';
import { styled } from './terminal-style';

export function reportError(err: unknown, json: boolean): number {
  const known = fromFailure(err) ?? new HoldfastError('internal', { reason: reasonOf(err) });
  if (json) process.stderr.write(`${visibleJson({ error: known.toJSON() })}\n`);
  else
    process.stderr.write(
      `${styled('red', `holdfast: ${known.code}`, process.stderr)}: ${inertFor(process.stderr).push(Buffer.from(known.message))}\n`,
    );
  if (known.code === 'internal' && process.env.HOLDFAST_DEBUG) console.error(err);
  return known.exitCode;
}
