// Loaded before a script (`node --require`), by a file of its own that says which script it is. Node itself then runs the
// script as its main module; this lets modules be found from the working folder, since the script's file is in a folder
// of ours. Processes and threads that the script starts from its own file get the same options, and so the same.
'use strict';
const { existsSync, readFileSync, realpathSync, writeFileSync } = require('node:fs');
const { Module, createRequire, isBuiltin, register, registerHooks } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const vm = require('node:vm');
const { isMainThread } = require('node:worker_threads');

/** As in contracts/errors/catalogue.ts, missing_packages. */
const UNAVAILABLE = 69;
/** What a stack trace calls it: the place of its file says nothing to anybody. */
const NAME = '[code]';
const NOT_FOUND = /^Cannot find (?:module|package) '([^']+)'/;

/** `imports`: if set, nothing runs while one of them is not installed. */
module.exports = function prepare({ script, reportTo, imports }) {
  const entry = realpathSync(script);
  const from = createRequire(join(process.cwd(), `${NAME}.cjs`));
  const isMain = isMainThread && process.argv[1] !== undefined && isSame(process.argv[1], entry);
  if (isMain) {
    process.argv[1] = entry;
    if (imports) lookForImports(imports, from, reportTo);
    process.on('uncaughtExceptionMonitor', (error) => reportMissing(error, entry, reportTo));
  }
  if (!entry.endsWith('.mjs')) return compileFrom(entry, from);
  if (isMain || !isMainThread) globalThis.require = from;
  resolveImports(entry);
};

module.exports.resolver = resolver;

function isSame(path, entry) {
  try {
    return realpathSync(path) === entry;
  } catch {
    return false;
  }
}

/** Compiles the script under its short name, for the folder that it runs in. */
function compileFrom(entry, require) {
  const compile = Module.prototype._compile;
  const here = process.cwd();
  Module.prototype._compile = function (code, filename, ...rest) {
    if (filename !== entry) return compile.call(this, code, filename, ...rest);
    if (/\bimport\b/.test(code)) keepBack('vm.USE_MAIN_CONTEXT_DEFAULT_LOADER ');
    const words = ['exports', 'require', 'module', '__filename', '__dirname'];
    const run = vm.compileFunction(code.replace(/^#!.*/, ''), words, {
      filename: NAME,
      // Imports are then resolved from the working folder too.
      importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    require.main = process.mainModule;
    return run.call(this.exports, this.exports, require, this, filename, here);
  };
}

/** Keeps back the warning about something that is used here, and not by the script. */
function keepBack(experiment) {
  const warn = process.emitWarning;
  process.emitWarning = function (text, ...rest) {
    if (!String(text).startsWith(experiment)) return warn.call(this, text, ...rest);
    process.emitWarning = warn;
  };
}

/** Resolves the script's own imports from the working folder; NODE_PATH does not apply to imports. */
function resolveImports(entry) {
  const stubs = process.env.HOLDFAST_TOOLS;
  const data = {
    entry: pathToFileURL(entry).href,
    here: pathToFileURL(join(process.cwd(), `${NAME}.mjs`)).href,
    tools: stubs && pathToFileURL(join(stubs, 'node', 'codex-tools', 'index.mjs')).href,
  };
  if (registerHooks) registerHooks({ resolve: resolver(data) });
  else if (register) register(pathToFileURL(join(__dirname, 'run-node-hooks.mjs')), { data });
}

function resolver({ entry, here, tools }) {
  return (specifier, context, next) => {
    if (specifier === 'codex-tools' && tools) return { url: tools, format: 'module', shortCircuit: true };
    return next(specifier, context.parentURL === entry ? { ...context, parentURL: here } : context);
  };
}

function lookForImports(imports, from, reportTo) {
  const missing = imports.filter(({ module: name }) => !isThere(name, from));
  if (missing.length === 0) return;
  write(reportTo, { hasRun: false, missing });
  process.exit(UNAVAILABLE);
}

/** A package whose folder exists counts, whatever it exports: the import's own error says more. */
function isThere(name, from) {
  if (isBuiltin(name)) return true;
  try {
    from.resolve(name);
    return true;
  } catch {
    const folder = packageOf(name);
    return (from.resolve.paths(name) ?? []).some((place) => existsSync(join(place, folder)));
  }
}

const packageOf = (name) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');

/** Says which import ended the program, unless it is a path or a part of Node. */
function reportMissing(error, entry, reportTo) {
  if (!/^(?:ERR_)?MODULE_NOT_FOUND$/.test(error?.code ?? '')) return;
  const [, name] = NOT_FOUND.exec(String(error.message)) ?? [];
  if (name === undefined || /^(?:[./]|[a-z]+:|[A-Za-z]:)/.test(name) || isBuiltin(name)) return;
  write(reportTo, { hasRun: true, missing: [{ module: name, line: lineOf(name, entry) }] });
}

/** 0 if the script does not name it: a package that it uses does. */
function lineOf(name, entry) {
  try {
    const lines = readFileSync(entry, 'utf8').split('\n');
    return lines.findIndex((line) => ["'", '"', '`'].some((mark) => line.includes(mark + name + mark))) + 1;
  } catch {
    return 0;
  }
}

function write(reportTo, report) {
  try {
    writeFileSync(reportTo, JSON.stringify(report), { mode: 0o600 });
  } catch {
    // The disk is full: the error itself is still shown.
  }
}
