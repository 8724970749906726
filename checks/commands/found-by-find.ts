// What `find` would delete or hand to a command: its start folders, unless its tests exclude most files.
import { BELOW, unquoted } from '../text';
import { pathOf, type Command } from './command';

/** Tests that exclude most files, each with a value. */
const NARROWING =
  /^-(?:i?name|i?path|i?wholename|i?regex|[acm](?:time|min)|a?newer.*|size|user|group|uid|gid|perm|links|inum|samefile|lname)$/;
/** A pattern that excludes hardly any: `*`, `/*`, `.*`. */
const BROAD = /^[*?./+^$()|]+$/;

/** The start folders if no test before the action excludes most files, otherwise none. */
export function foundRoots(command: Command): string[] {
  const args = command.words.slice(1).map(({ text }) => text);
  const start = args.findIndex((text) => /^[-(!]/.test(text) && !/^-[HLP]$|^-O\d$|^-D$/.test(text));
  const roots = (start === -1 ? args : args.slice(0, start)).filter((text) => !text.startsWith('-'));
  const tests = start === -1 ? [] : args.slice(start).map(unquoted);
  const acting = alternatives(tests)
    .map((tokens) => tokens.slice(0, tokens.findIndex((text) => /^-(?:delete|exec|ok)/.test(text)) + 1))
    .filter((tokens) => tokens.length > 0);
  // Without an action of its own, as for `find … | xargs`, all tests count.
  const isNarrow =
    acting.length > 0 ? acting.every(narrows) : alternatives(tests).every(narrows) && tests.length > 0;
  return isNarrow ? [] : roots.map((text) => pathOf(text, command));
}

/** What it finds there, and the folders themselves. */
export const foundPaths = (command: Command): string[] =>
  foundRoots(command).flatMap((root) => [`${root.replace(/\/$/, '')}/${BELOW}`, root]);

/** The parts between `-o` and `,` outside of parentheses. */
function alternatives(tokens: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  let depth = 0;
  for (const text of tokens) {
    if (text === '(') depth += 1;
    if (text === ')') depth -= 1;
    if (depth === 0 && /^(?:-o|-or|,)$/.test(text)) parts.push([]);
    else parts.at(-1)?.push(text);
  }
  return parts;
}

/** Whether one of the tests that must all hold excludes most files. One that is negated excludes few. */
function narrows(tokens: readonly string[]): boolean {
  let isNegated = false;
  for (let at = 0; at < tokens.length; at++) {
    const text = tokens[at] ?? '';
    if (text === '!' || text === '-not') isNegated = !isNegated;
    else if (text === '(') {
      const end = closing(tokens, at);
      if (!isNegated && alternatives(tokens.slice(at + 1, end)).every(narrows)) return true;
      isNegated = false;
      at = end;
    } else {
      if (!isNegated && (text === '-empty' || (NARROWING.test(text) && !BROAD.test(tokens[at + 1] ?? ''))))
        return true;
      if (NARROWING.test(text)) at += 1;
      if (!/^-(?:a|and)$/.test(text)) isNegated = false;
    }
  }
  return false;
}

function closing(tokens: readonly string[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (tokens[at] === '(') depth += 1;
    if (tokens[at] === ')' && --depth === 0) return at;
  }
  return tokens.length;
}
