import { constants } from 'node:os';

// Where a number has two names, the first is the usual one: SIGABRT, not SIGIOT.
const NAMES = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);

/** `SIGKILL` for 9; undefined for numbers that are not signals here. */
const signalName = (number: number): string | undefined => NAMES.get(number);

/** An interactive bash survives these, so its codes 130, 131 and 143 are ordinary exits. */
const SURVIVED = new Set(['SIGINT', 'SIGQUIT', 'SIGTERM']);

/** The signal that ended a shell with code 128 plus this number; undefined for a plain exit code. */
export function fatalSignal(number: number): string | undefined {
  const name = signalName(number);
  return name === undefined || SURVIVED.has(name) ? undefined : name;
}
