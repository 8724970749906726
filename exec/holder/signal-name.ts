import { constants } from 'node:os';

// Of two names for a number the first is the usual one: SIGABRT and not SIGIOT.
const NAMES = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);

/** `SIGKILL` for 9; undefined for numbers that are no signal here. */
const signalName = (number: number): string | undefined => NAMES.get(number);

/** An interactive bash outlives these: codes 130, 131 and 143 of it are exits by its own will. */
const SURVIVED = new Set(['SIGINT', 'SIGQUIT', 'SIGTERM']);

/** The signal that must have ended a shell whose code is 128 and this number; undefined for a plain exit code. */
export function fatalSignal(number: number): string | undefined {
  const name = signalName(number);
  return name === undefined || SURVIVED.has(name) ? undefined : name;
}
