// A worker evaluates the modules of the workflows once, for all workflows that it runs: state that a module kept would
// pass from one workflow to another, and a replay would differ.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { packageRoot } from '../../../system/package-root';

const FOLDERS = ['workflows', 'contracts'];

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(packageRoot(), folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
);

/** An empty object or array, or a new one of a class: it is there to be filled. */
function isFillable(value: ts.Expression | undefined): boolean {
  if (!value) return true;
  if (ts.isAsExpression(value) || ts.isSatisfiesExpression(value)) return isFillable(value.expression);
  if (ts.isObjectLiteralExpression(value)) return value.properties.length === 0;
  if (ts.isArrayLiteralExpression(value)) return value.elements.length === 0;
  return ts.isNewExpression(value) && value.expression.getText() !== 'RegExp';
}

function stateIn(name: string, text: string): string[] {
  const { statements } = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  return statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) => {
    const mayChange = (declarationList.flags & ts.NodeFlags.Const) === 0;
    return declarationList.declarations
      .filter(({ initializer }) => mayChange || isFillable(initializer))
      .map((declared) => `${name}: ${declared.getText()}`);
  });
}

test('no module that workflows share keeps state', () => {
  expect(files.length).toBeGreaterThan(100);
  expect(files.flatMap((name) => stateIn(name, readFileSync(join(packageRoot(), name), 'utf8')))).toEqual([]);
});

test.each(['let count = 0;', 'export const seen = new Map();', 'const kept: string[] = [];', 'var x;'])(
  '%s at the top of a module counts as state',
  (text) => {
    expect(stateIn('x.ts', text)).toHaveLength(1);
  },
);

test.each(['const MAX = 5;', 'const ALL = ["a"] as const;', 'export const f = () => new Map();'])(
  '%s does not',
  (text) => {
    expect(stateIn('x.ts', text)).toEqual([]);
  },
);
