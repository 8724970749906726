// Detached processes say what they have to say into files, on a disk that may be full or read-only.

/** A line that cannot be written is lost, and does not end the process; the next one is tried again. */
export function outliveLog(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
