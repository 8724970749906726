import { constants } from 'node:os';

const NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** `SIGKILL` for 9; undefined for numbers that are no signal here. */
export const signalName = (number: number): string | undefined => NAMES.get(number);
