// Checks one piece of code, synchronously in one thread: bash and JavaScript are parsed here, Python's trees are passed
// in.
import { withoutByteOrderMark } from '../contracts/text/byte-order-mark';
import type { CheckReport } from '../contracts/tools/checks';
import { runBash } from './bash/follow-script';
import { Check, TooMuch, type EmbeddedPython, type NestedCode } from './check-run';
import { many, parseJavaScript, type EsNode, type PythonTree } from './code/estree';
import { Program } from './code/follow';
import { Findings, type Language, type Placing } from './findings';
import { UNKNOWN, isKnown, withoutMarks } from './text';

/** Maximum number of embedded pieces of Python in one piece of code. */
const MAX_EMBEDDED = 20;

/** Parses Python in another process. */
export type ParsePython = (code: string) => Promise<PythonTree>;

/** Never throws because of the code. Await `loadBash` first. */
export async function analyse(
  language: Language,
  given: string,
  parsePython: ParsePython,
): Promise<CheckReport> {
  const code = withoutByteOrderMark(given);
  const text = withoutMarks(code);
  const findings = new Findings(language, text);
  const check = new Check(findings, { bash: runBash, javascript: runJavaScript });
  const place = { start: 0, end: code.length };
  bounded(findings, () => check.nested({ language, text, place, depth: 0 }));
  for (let count = 0; check.embedded.length > 0; count++) {
    const next = check.embedded.shift() as EmbeddedPython;
    if (count >= MAX_EMBEDDED) {
      findings.skip('it holds too many pieces of Python');
      break;
    }
    const tree = await parsePython(next.code);
    bounded(findings, () => runPython(check, tree, next));
  }
  return { verdicts: findings.verdicts, unparsed: findings.unparsed };
}

/** Findings made before the limit was reached still count. */
function bounded(findings: Findings, work: () => unknown): void {
  try {
    work();
  } catch (err) {
    if (err instanceof TooMuch) findings.skip(err.message);
    // Stack overflow: the code's author decides how deeply it is nested.
    else if (err instanceof RangeError) findings.skip('the code is nested too deeply');
    else throw err;
  }
}

/** The runner of JavaScript. */
function runJavaScript(check: Check, code: string, placing: Placing, { depth }: NestedCode): string {
  let tree: EsNode;
  try {
    tree = parseJavaScript(code);
  } catch (err) {
    // With unknown parts it may well not be JavaScript.
    if (isKnown(code))
      check.findings.skip(
        err instanceof SyntaxError ? `it is not JavaScript: ${err.message}` : 'the code is nested too deeply',
      );
    return UNKNOWN;
  }
  new Program({ check, language: 'javascript', placing, depth }, code, many(tree.body));
  return UNKNOWN;
}

function runPython(check: Check, answer: PythonTree, { code, placing, depth }: EmbeddedPython): void {
  if ('body' in answer) new Program({ check, language: 'python', placing, depth }, code, answer.body);
  else if (isKnown(code)) {
    const line = check.findings.lineOf(placing(0, 0).start);
    check.findings.skip(depth > 1 ? `Python at line ${line}: ${answer.fault}` : answer.fault);
  }
}
