// Checks one piece of code, synchronously in one thread: bash and JavaScript are parsed here, Python's trees are passed
// in.
import type { CheckReport } from '../contracts/tools/checks';
import { runBash } from './bash/follow-script';
import { Check, TooMuch, type EmbeddedPython } from './check-run';
import { runJavaScript, runPython, type PythonTree } from './code/follow-program';
import { Findings, type Language } from './findings';
import { withoutMarks } from './text';

/** Maximum number of embedded pieces of Python in one piece of code. */
const MAX_EMBEDDED = 20;

/** Parses Python in another process. */
export type ParsePython = (code: string) => Promise<PythonTree>;

/** Never throws because of the code. Await `loadBash` first. */
export async function analyse(
  language: Language,
  code: string,
  parsePython: ParsePython,
): Promise<CheckReport> {
  const findings = new Findings(language, code);
  const check = new Check(findings, { bash: runBash, javascript: runJavaScript });
  const site = { place: { start: 0, end: code.length }, exact: 0 };
  const text = withoutMarks(code);
  bounded(findings, () =>
    check.nested({ language, text, site, placing: (start, end) => ({ start, end }), depth: 0 }),
  );
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
