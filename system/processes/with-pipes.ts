// What every start of a program with pipes checks first.
import type { ChildProcess } from 'node:child_process';
import { HoldfastError } from '../../contracts/errors/holdfast-error';

/**
 * The process that was just started, whose pipes may be used. Throws `resources_exhausted` if there were no file
 * descriptors for them: Node then gives a process without any, and an 'error' soon after, which would end this process.
 */
export function withPipes<Started extends ChildProcess>(child: Started): Started {
  // Node's types do not say this.
  if ((child.stdio as unknown) !== undefined) return child;
  child.on('error', () => undefined);
  throw new HoldfastError('resources_exhausted', {
    resource: 'file descriptors',
    reason: `${child.spawnfile} could not be started`,
  });
}
