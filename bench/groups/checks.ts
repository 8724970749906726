// The cost of checking a command before it runs, once thread and parsers are warm: each language, by length.
import type { Runtime } from '../../contracts/sessions/session';
import { CodeChecks } from '../../checks/code-checks';
import { below, median, plain, timed, type Row } from '../measure';

const ROUNDS = 60;
const WARMING = 40;
/** The target of issue 7 for a script of 200 lines. */
const LIMIT_MS = 10;

const SNIPPETS: Record<'bash' | 'python' | 'javascript', { runtime: Runtime; code: string[] }> = {
  bash: {
    runtime: 'terminal',
    code: [
      'set -euo pipefail',
      'build_N="$HOME/work/build-N"',
      'for name in alpha beta gamma; do',
      '  mkdir -p "$build_N/$name" && rm -rf "$build_N/$name/old"',
      'done',
      'if [[ -f "$build_N/list.txt" ]]; then',
      '  grep -v "^#" "$build_N/list.txt" | sort -u | tee "$build_N/sorted.txt" >/dev/null',
      'fi',
      'step_N() { echo "step $1 of $build_N"; curl -sf "https://example.org/$1.json" -o "$build_N/$1.json"; }',
      'step_N first || echo "no network" >&2',
    ],
  },
  python: {
    runtime: 'python',
    code: [
      'import json, os, subprocess',
      'def step_N(name, items=None):',
      '    """Collects what belongs to one name."""',
      '    rows = [row for row in (items or []) if row.get("name") == name]',
      '    path = os.path.join(os.getcwd(), f"out-{name}.json")',
      '    with open(path, "w") as file:',
      '        json.dump({"name": name, "rows": rows, "count": len(rows)}, file)',
      '    return subprocess.run(["wc", "-c", path], capture_output=True, text=True).stdout',
      'for name in ("alpha", "beta"):',
      '    print(step_N(name, [{"name": name, "value": n * 2} for n in range(10)]))',
    ],
  },
  javascript: {
    runtime: 'nodejs',
    code: [
      "const { execFileSync: run_N } = require('node:child_process');",
      "const { writeFileSync: write_N } = require('node:fs');",
      'function step_N(name, items = []) {',
      '  const rows = items.filter((row) => row.name === name).map(({ value }) => ({ value, name }));',
      '  const path = `${process.cwd()}/out-${name}.json`;',
      '  write_N(path, JSON.stringify({ name, rows, count: rows.length }));',
      "  return run_N('wc', ['-c', path], { encoding: 'utf8' });",
      '}',
      "for (const name of ['alpha', 'beta'])",
      '  console.log(step_N(name, [{ name, value: 1 }, { name, value: 2 }]));',
    ],
  },
};

/** A script of this many lines, with no two parts alike. */
const script = (snippet: string[], lines: number): string =>
  Array.from({ length: lines / snippet.length }, (_value, at) =>
    snippet.join('\n').replace(/(?<=[_-])N\b/g, String(at)),
  ).join('\n');

export async function checks(): Promise<Row[]> {
  const checker = new CodeChecks();
  const rows: Row[] = [];
  try {
    for (const [language, { runtime, code }] of Object.entries(SNIPPETS)) {
      rows.push(
        below(
          `check of 200 lines of ${language}`,
          await cost(checker, runtime, script(code, 200)),
          'ms',
          LIMIT_MS,
        ),
      );
      rows.push(plain(`- of 10 lines`, await cost(checker, runtime, script(code, 10)), 'ms'));
    }
  } finally {
    checker.close();
  }
  return rows;
}

async function cost(checker: CodeChecks, runtime: Runtime, code: string): Promise<number> {
  const times: number[] = [];
  for (let round = -WARMING; round < ROUNDS; round++) {
    const took = await timed(async () => {
      const { unparsed, verdicts } = await checker.check({ runtime, code });
      if (unparsed !== null || verdicts.length > 0) throw new Error(`the script is not clean: ${unparsed}`);
    });
    if (round >= 0) times.push(took);
  }
  return median(times);
}
