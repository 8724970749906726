// Words of a shell's command line.

/** One word, whatever it holds. */
export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
