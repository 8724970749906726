// The one place where errors leave the command line: code, message and next step to stderr, exit code above 64.
import { HoldfastError, reasonOf } from '../contracts/errors';
import { fromFailure } from '../contracts/failure';
import { asStorageFailure } from '../exec/storage-failure';
import { visibleJson } from './print-json';
import { continued, styled } from './terminal-style';

/** The catalogue's error for whatever was thrown. */
export function knownError(err: unknown): HoldfastError {
  const known = fromFailure(err) ?? asStorageFailure(err);
  return known instanceof HoldfastError ? known : new HoldfastError('internal', { reason: reasonOf(err) });
}

export function reportError(err: unknown, json: boolean): number {
  const known = knownError(err);
  if (json) process.stderr.write(`${visibleJson({ error: known.toJSON() })}\n`);
  else
    process.stderr.write(
      `${styled('red', `holdfast: ${known.code}`, process.stderr)}: ${continued(known.message)}\n`,
    );
  if (known.code === 'internal' && process.env.HOLDFAST_DEBUG) console.error(err);
  return known.exitCode;
}
