// Runs a file as CommonJS or, if that does not compile, as an ES module with top-level await; both as if the code were
// in the session's working folder. With `imports=FILE` it runs nothing if one of the imports listed in the file is not
// installed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin, register } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const path = process.argv[2];
const here = pathToFileURL(join(process.cwd(), '[code].mjs')).href;
const require = createRequire(here);
const imports = process.argv[3]?.startsWith('imports=') ? process.argv[3].slice('imports='.length) : null;
process.argv.splice(1, imports ? 3 : 2);
if (imports) lookForImports(JSON.parse(readFileSync(imports, 'utf8')));

function lookForImports(request) {
  const missing = request.imports
    .filter(({ module }) => !isThere(module, request.packages[module]))
    .map(({ module, line }) => ({ module, package: request.packages[module], line }));
  if (missing.length === 0) return;
  writeFileSync(request.answer, JSON.stringify(missing), { mode: 0o600 });
  const modules = missing.map(({ module, line }) => `${module} (line ${line})`).join(', ');
  const packages = [...new Set(missing.map((each) => each.package))].join(' ');
  const message = request.message.replace('{modules}', () => modules).replace('{packages}', () => packages);
  process.stderr.write(`${message}\n`);
  process.exit(request.exitCode);
}

/** A package whose folder exists counts, whatever it exports: the import's own error says more. */
function isThere(module, name) {
  if (isBuiltin(module)) return true;
  try {
    require.resolve(module);
    return true;
  } catch {
    return (require.resolve.paths(module) ?? []).some((folder) => existsSync(join(folder, name)));
  }
}

/** The code as a function; undefined if it has import, export or top-level await. */
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

/**
 * Makes the entry's imports resolve from the working folder, since its file is elsewhere. NODE_PATH does not apply to
 * imports.
 */
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
