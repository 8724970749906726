// The lines that the driver in bash writes to the holder. Programs can write here too.
import type { Socket } from 'node:net';
import { endOf } from '../../../contracts/text/well-formed';

/** A longer line is not a report. */
const MAX_CHARS = 4_096;

/** Calls `onReport` with each line. */
export function readReports(from: Socket, onReport: (line: string) => void): void {
  let text = '';
  from.on('data', (chunk: Buffer) => {
    const lines = (text + chunk.toString('latin1')).split('\n');
    text = endOf(lines.pop() ?? '', MAX_CHARS);
    for (const line of lines) onReport(line);
  });
}
