// Patches that have spaces where the file has tabs, or the other way round: their context is found all the same, and lines
// that are added must not mix both. Pure.

/** A line of the file and how the patch has it. */
export interface Pair {
  file: string;
  patch: string;
}

const indentOf = (text: string): string => /^[ \t]*/.exec(text)?.[0] ?? '';
const isOnly = (text: string, character: string): boolean =>
  text !== '' && text === character.repeat(text.length);

/** Gives an added line the file's kind of indentation; leaves it alone unless all lines differ in the same way. */
export function indentationOf(pairs: readonly Pair[]): (text: string) => string {
  const unlike = pairs
    .map(({ file, patch }) => ({ file: indentOf(file), patch: indentOf(patch) }))
    .filter(({ file, patch }) => file !== '' || patch !== '');
  const toTabs = widthOf(unlike.map(({ file, patch }) => ({ tabs: file, spaces: patch })));
  const toSpaces = widthOf(unlike.map(({ file, patch }) => ({ tabs: patch, spaces: file })));
  const change = (indent: string): string => {
    if (toTabs !== null && isOnly(indent, ' '))
      return '\t'.repeat(Math.floor(indent.length / toTabs)) + ' '.repeat(indent.length % toTabs);
    return toSpaces !== null && isOnly(indent, '\t') ? ' '.repeat(indent.length * toSpaces) : indent;
  };
  return (text) => {
    const indent = indentOf(text);
    return change(indent) + text.slice(indent.length);
  };
}

/** How many spaces stand for a tab, if they do in each of these and it is the same number. */
function widthOf(pairs: readonly { tabs: string; spaces: string }[]): number | null {
  const widths = pairs.map(({ tabs, spaces }) =>
    isOnly(tabs, '\t') && isOnly(spaces, ' ') ? spaces.length / tabs.length : NaN,
  );
  const [first = NaN] = widths;
  return Number.isInteger(first) && widths.every((width) => width === first) ? first : null;
}
