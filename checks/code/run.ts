// Follows programs of Python and JavaScript that were parsed, or says why they were not.
import type { Check, EmbeddedPython, NestedCode } from '../check';
import type { Placing } from '../findings';
import { UNKNOWN, isKnown } from '../text';
import { Program } from './follow';
import { JAVASCRIPT } from './javascript-calls';
import { parseJavaScript } from './parse-javascript';
import type { Node } from './program';
import { PYTHON } from './python-calls';

/** What the process that parses Python answers. */
export type PythonTree = { tree: Node[] } | { fault: string };

/** The runner of JavaScript. */
export function runJavaScript(check: Check, code: string, placing: Placing, nested: NestedCode): string {
  let nodes: Node[];
  try {
    nodes = parseJavaScript(code);
  } catch (err) {
    // With parts that nobody knows it may well be none.
    if (isKnown(code))
      check.findings.skip(
        err instanceof SyntaxError ? `it is no JavaScript: ${err.message}` : 'the code is nested too deep',
      );
    return UNKNOWN;
  }
  new Program({ check, code, placing, depth: nested.depth, table: JAVASCRIPT }, nodes);
  return UNKNOWN;
}

export function runPython(check: Check, answer: PythonTree, { code, placing, depth }: EmbeddedPython): void {
  if ('fault' in answer) {
    const line = check.findings.lineOf(placing(0, 0).start);
    if (isKnown(code))
      check.findings.skip(depth > 1 ? `Python at line ${line}: ${answer.fault}` : answer.fault);
  } else new Program({ check, code, placing, depth, table: PYTHON }, answer.tree);
}
