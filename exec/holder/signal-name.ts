import { constants } from 'node:os';

// Of two names for a number the first is the usual one: SIGABRT and not SIGIOT.
const NAMES = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);

/** `SIGKILL` for 9; undefined for numbers that are no signal here. */
export const signalName = (number: number): string | undefined => NAMES.get(number);
