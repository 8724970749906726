// Follows parsed programs in Python and JavaScript, or reports why they could not be parsed.
import type { Check, EmbeddedPython, NestedCode } from '../check-run';
import type { Placing } from '../findings';
import { UNKNOWN, isKnown } from '../text';
import { Program } from './follow';
import { JAVASCRIPT } from './javascript-calls';
import { parseJavaScript } from './parse-javascript';
import type { Node } from './parsed-program';
import { PYTHON } from './python-calls';

/** The answer of the process that parses Python. */
export type PythonTree = { tree: Node[] } | { fault: string };

/** The runner of JavaScript. */
export function runJavaScript(check: Check, code: string, placing: Placing, nested: NestedCode): string {
  let nodes: Node[];
  try {
    nodes = parseJavaScript(code);
  } catch (err) {
    // With unknown parts it may well not be JavaScript.
    if (isKnown(code))
      check.findings.skip(
        err instanceof SyntaxError ? `it is not JavaScript: ${err.message}` : 'the code is nested too deeply',
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
