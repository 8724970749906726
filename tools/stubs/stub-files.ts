// All files through which a session's scripts call tools as functions. Files that do not depend on the tools are in
// assets/ and are not compiled.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../system/package-root';
import type { StubFile, ToolDescription } from '../../contracts/tools/tools';
import { quote } from '../../contracts/text/shell-word';
import { checkFunctionNames, functionName } from './function-names';
import { nodeModule, nodeTypes } from './node-stub';
import { pythonStub } from './python-stub';

/** Asset -> its destination. */
const ASSETS: Record<string, string> = {
  '_codex_tools.py': 'python/_codex_tools.py',
  'index.cjs': 'node/codex-tools/index.cjs',
  'runtime.cjs': 'node/codex-tools/runtime.cjs',
  'tool-command.cjs': 'node/codex-tools/tool-command.cjs',
  'tool-help.cjs': 'node/codex-tools/tool-help.cjs',
  'tool-options.cjs': 'node/codex-tools/tool-options.cjs',
};

const PACKAGE = {
  name: 'codex-tools',
  version: '1.0.0',
  private: true,
  main: './index.cjs',
  types: './index.d.ts',
  exports: {
    '.': {
      import: { types: './index.d.mts', default: './index.mjs' },
      require: { types: './index.d.ts', default: './index.cjs' },
    },
    './package.json': './package.json',
  },
};

/**
 * Yields relative path -> content and mode; `node` is the absolute path of the Node that runs `tool`. The same tools
 * yield the same files. Throws `tool_name_taken` if a function would stand for two tools.
 */
export function stubFiles(tools: readonly ToolDescription[], options: { node: string }): StubFile[] {
  checkFunctionNames(tools);
  const types = nodeTypes(tools, asset('about-node.txt'));
  return [
    ...Object.entries(ASSETS).map(([name, path]) => ({ path, content: asset(name) })),
    { path: 'python/codex_tools.py', content: pythonStub(tools, asset('about-python.txt')) },
    { path: 'node/codex-tools/package.json', content: `${JSON.stringify(PACKAGE, null, 2)}\n` },
    { path: 'node/codex-tools/index.mjs', content: nodeModule(tools) },
    { path: 'node/codex-tools/index.d.ts', content: types },
    { path: 'node/codex-tools/index.d.mts', content: types },
    { path: 'bin/tool', content: launcher(options.node), executable: true },
    // Last: once a tool is in the manifest, everything else is in place.
    { path: 'tools.json', content: manifest(tools) },
  ];
}

const manifest = (tools: readonly ToolDescription[]): string =>
  `${JSON.stringify(
    tools.map(({ name, description, parameters, result, effects }) => ({
      name,
      function: functionName(name),
      description,
      parameters,
      result,
      effects,
    })),
  )}\n`;

const launcher = (node: string): string => asset('tool.sh').replace('@NODE@', () => quote(node));

const asset = (name: string): string =>
  readFileSync(join(packageRoot(), 'tools', 'stubs', 'assets', name), 'utf8');
