// What happens to steps that run when a worker is told to stop.
const DRAIN_MS = 2_000;
/** For steps that were cancelled, to say how they ended. */
const LAST_WORD_MS = 3_000;

/** @param drainMs how long they may take to end by themselves; then they are cancelled, and tried again elsewhere */
export const stopsWithin = (
  drainMs = DRAIN_MS,
): Record<'shutdownGraceTime' | 'shutdownForceTime', number> => ({
  shutdownGraceTime: drainMs,
  shutdownForceTime: drainMs + LAST_WORD_MS,
});
