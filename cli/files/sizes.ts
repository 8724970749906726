// Sizes, rates and times as people read them.
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** `12.3 MB`, in steps of 1000. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 999.5 && unit < UNITS.length - 1; unit++) value /= 1_000;
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** `2 min 5 s`. */
export function timeText(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}
