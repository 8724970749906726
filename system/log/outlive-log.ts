// Detached processes log to files, on a disk that may be full or read-only.

/** A line that cannot be written is lost, but does not end the process; the next line is tried again. */
export function outliveLog(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
