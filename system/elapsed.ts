// How long ago something was. The wall clock may be set, and the steady one stands still while the machine is suspended.
// For durations that need not outlast a suspension, `performance.now()` is enough.

/** A point in time, for `ageOf` in the same process. */
export interface Moment {
  wall: number;
  steady: number;
}

export const LONG_AGO: Moment = { wall: -Infinity, steady: -Infinity };

export const thisMoment = (): Moment => ({ wall: Date.now(), steady: performance.now() });

/** In milliseconds, suspension included. Infinite if the wall clock was set back: then it is not known. */
export function ageOf({ wall, steady }: Moment): number {
  const byWall = Date.now() - wall;
  return byWall < 0 ? Infinity : Math.max(byWall, performance.now() - steady);
}
