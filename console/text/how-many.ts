/** For example `1 file` or `3 files`. */
export const howMany = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;
