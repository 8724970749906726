// What readers of a session's output are told where a part of it is not kept any more.

/** A line of its own, before what is still there. */
export const droppedNote = (bytes: number, from: number): string =>
  `[${bytes} bytes dropped by the limits of the log, which now begins at offset ${from}]\n`;
