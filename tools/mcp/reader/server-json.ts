// JSON as servers write it. Python's json module writes NaN and Infinity, which are no JSON; in their place is null.

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/gs;

/** Throws SyntaxError for what is no JSON even then. */
export function parseJson(text: string): unknown {
  const plain = text.replace(/^\uFEFF/, '');
  try {
    return JSON.parse(plain) as unknown;
  } catch (err) {
    if (!/NaN|Infinity/.test(plain)) throw err;
    const known = plain.replace(STRING_OR_NUMBER, (found) => (found.startsWith('"') ? found : 'null'));
    return JSON.parse(known) as unknown;
  }
}
