// Output of commands with `--json`, for programs: one value per line.
import { escapeActive } from '../../contracts/text/inert';

export function printJson(value: unknown, stream: NodeJS.WriteStream = process.stdout): void {
  stream.write(`${visibleJson(value)}\n`);
}

/** The same value, with characters that a terminal would obey or a person would not see as JSON escapes. */
export const visibleJson = (value: unknown): string => escapeActive(JSON.stringify(value) ?? 'null');
