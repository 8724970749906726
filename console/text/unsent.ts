/** What remains in a field when what was sent of it has arrived: the person may have typed on meanwhile. */
export const unsent = (text: string, sent: string): string =>
  text.startsWith(sent) ? text.slice(sent.length) : text;
