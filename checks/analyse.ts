// The checks of one piece of code, in one thread and without waiting: bash and JavaScript are parsed here, Python's
// trees are given.
import type { CheckReport } from '../contracts/checks';
import { runBash } from './bash/shell';
import { Check, TooMuch, type EmbeddedPython } from './check';
import { runJavaScript, runPython, type PythonTree } from './code/run';
import { Findings, type Language } from './findings';
import { withoutMarks } from './text';

/** Code that one piece may hold in Python. */
const MAX_EMBEDDED = 20;

/** Parses Python, elsewhere. */
export type ParsePython = (code: string) => Promise<PythonTree>;

/** Never throws for what the code is. `loadBash` comes before. */
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

/** What was found before it became too much counts. */
function bounded(findings: Findings, work: () => unknown): void {
  try {
    work();
  } catch (err) {
    if (err instanceof TooMuch) findings.skip(err.message);
    // The stack's end: how deep code is nested is up to whoever wrote it.
    else if (err instanceof RangeError) findings.skip('the code is nested too deep');
    else throw err;
  }
}
