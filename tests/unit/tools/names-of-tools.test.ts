// Tools declare what others have to know about them: no code outside of tools/ knows one by its name.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ts from 'typescript';
import { packageRoot } from '../../../system/package-root';
import { createToolRegistry } from '../../../tools/registry';

const FOLDERS = ['workflows', 'cli', 'models', 'activities', 'client', 'contracts', 'workers'];

/** By file: the names that it may hold, and why. */
const EXCEPTIONS: Readonly<Record<string, { names: string[]; why: string }>> = {
  'contracts/agents/sub-agents.ts': { names: ['list_agents'], why: 'tells a model what to do next' },
  'contracts/errors/catalogue.ts': { names: ['code_execution_tool'], why: 'tells a model what to do next' },
  'cli/commands/chat.ts': { names: ['code_execution_remote'], why: 'explains an option to people' },
  'cli/commands/run.ts': { names: ['code_execution_remote'], why: 'explains an option to people' },
  'cli/mcp/agent-operations.ts': {
    names: ['stop_agent'],
    why: 'an operation for MCP clients, no tool of ours',
  },
};

const names = createToolRegistry()
  .describe()
  .map(({ name }) => name);

/** An ordinary word, which also means other things: it counts only where the code around it speaks of tools. */
const isWord = (name: string): boolean => !name.includes('_');

/** The comparison, call or declared name that a text belongs to mentions tools, other texts in it aside. */
function speaksOfTools(text: ts.Node): boolean {
  for (let node = text.parent; !ts.isSourceFile(node); node = node.parent) {
    const around = ts.isCaseClause(node)
      ? node.parent.parent.expression
      : ts.isVariableDeclaration(node)
        ? node.name
        : ts.isBinaryExpression(node) || ts.isCallExpression(node)
          ? node
          : null;
    if (around) return /(?:tool|Tool|TOOL)[sS]?(?![a-z])/.test(around.getText().replace(/'[^']*'/g, ''));
  }
  return false;
}

/** Names of tools in the texts and regular expressions of a file; comments and property names do not count. */
function namesIn(source: string): string[] {
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    const isText =
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node) ||
      ts.isRegularExpressionLiteral(node);
    if (isText)
      found.push(
        ...names.filter((name) =>
          isWord(name)
            ? node.text === name && speaksOfTools(node)
            : new RegExp(`\\b${name}\\b`).test(node.text),
        ),
      );
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true));
  return [...new Set(found)];
}

const namesInFile = (path: string): string[] => namesIn(readFileSync(join(packageRoot(), path), 'utf8'));

test('no file outside of tools names a tool, with the exceptions that are listed', () => {
  const patterns = FOLDERS.map((folder) => `${folder}/*.ts`);
  const listed = execFileSync('git', ['ls-files', ...patterns], { cwd: packageRoot(), encoding: 'utf8' });
  const files = listed.split('\n').filter((path) => path !== '');
  expect(files.length).toBeGreaterThan(250);
  const wrong = files.flatMap((path) =>
    namesInFile(path)
      .filter((name) => !EXCEPTIONS[path]?.names.includes(name))
      .map((name) => `${path}: ${name}`),
  );
  expect(wrong).toEqual([]);
});

test('each exception is still needed', () => {
  const stale = Object.entries(EXCEPTIONS).flatMap(([path, { names: allowed }]) => {
    const found = namesInFile(path);
    return allowed.filter((name) => !found.includes(name)).map((name) => `${path}: ${name}`);
  });
  expect(stale).toEqual([]);
});

test.each([
  ["if (tool === 'input') go();", ['input']],
  ["switch (call.tool) { case 'wait': go(); }", ['wait']],
  ["const OF_TOOLS = new Set(['shell']);", ['shell']],
  ["const OF = ['fetch'].includes(toolName);", ['fetch']],
  ['const text = `look with execute_python_code, ${x}`;', ['execute_python_code']],
  ['const text = `${x} or exec_command`;', ['exec_command']],
  ['/^code_execution_tool$/.test(name);', ['code_execution_tool']],
  ["// the tool 'input'\nconst input = { wait: 'for input', echo: 'input' };", []],
])('a name of a tool is found in %s', (source, found) => {
  expect(namesIn(source)).toEqual(found);
});
