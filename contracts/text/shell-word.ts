// Words of a shell command line.

/** Quotes any text as one word. */
export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The same without quotes where it needs none, for people. */
export const readableWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quote(text));
