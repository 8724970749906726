// Commands that were refused before any of them ran, because of what they import. Pure.
import { CATALOGUE } from '../errors/catalogue';
import type { CommandView } from './session';

/** As which a check for imports ends. */
export const NOT_RUN = CATALOGUE.missing_packages.exitCode;

/** Whether none of a command ran, because its imports were looked for first and are not installed. */
export const wasNotRun = ({ missing, exitCode }: Pick<CommandView, 'missing' | 'exitCode'>): boolean =>
  missing !== undefined && exitCode === NOT_RUN;
