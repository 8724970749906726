// What programs get of a command that is called with `--json`: one value a line.
import { escapeActive } from '../contracts/inert';

export function printJson(value: unknown): void {
  process.stdout.write(`${visibleJson(value)}\n`);
}

/** The same value, with what a terminal would obey or a person would not see as escapes of JSON. */
export const visibleJson = (value: unknown): string => escapeActive(JSON.stringify(value) ?? 'null');
