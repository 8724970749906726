// Runs a file as CommonJS or, where that does not compile, as ES module with top-level await; both as if
// the code lay in the session's working folder.
import { readFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const path = process.argv[2];
const here = pathToFileURL(join(process.cwd(), '[code].mjs')).href;
const require = createRequire(here);
process.argv.splice(1, 2);

/** The code as a function, or undefined where it has import, export or top-level await. */
function compileCommonJs(code) {
  try {
    return vm.compileFunction(code, ['exports', 'require', 'module', '__filename', '__dirname'], {
      filename: '[code]',
      importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
  } catch {
    return undefined;
  }
}

/** Makes the entry's imports resolve from the working folder; its file lies elsewhere. NODE_PATH is not for imports. */
const RESOLVE_FROM_HERE = `
  let entry, here, tools;
  export function initialize(data) { ({ entry, here, tools } = data); }
  export function resolve(specifier, context, next) {
    if (specifier === 'codex-tools' && tools) return { url: tools, format: 'module', shortCircuit: true };
    return next(specifier, context.parentURL === entry ? { ...context, parentURL: here } : context);
  }`;

const run = compileCommonJs(readFileSync(path, 'utf8'));
if (run) {
  const module = { exports: {} };
  run(module.exports, require, module, '[code]', process.cwd());
} else {
  const entry = pathToFileURL(path).href;
  globalThis.require = require;
  const stubs = process.env.HOLDFAST_TOOLS;
  const tools = stubs && pathToFileURL(join(stubs, 'node', 'codex-tools', 'index.mjs')).href;
  register(`data:text/javascript,${encodeURIComponent(RESOLVE_FROM_HERE)}`, { data: { entry, here, tools } });
  await import(entry);
}
