// Own tools from modules that export a list named `tools`, in JavaScript or in TypeScript.
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { Tool } from '../../tools/tool';

/** Node's own import(): the compiler would turn it into require(), which cannot load modules with top-level await. */
const importModule = vm.runInThisContext('(url) => import(url)', {
  importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}) as (url: string) => Promise<{ tools?: unknown }>;

/** Loads the modules, given by absolute path. Throws `tools_not_loaded`. */
export async function loadTools(files: readonly string[]): Promise<Tool[]> {
  const all: Tool[] = [];
  for (const file of files) {
    const failed = (reason: string): HoldfastError =>
      new HoldfastError('tools_not_loaded', { got: file, reason });
    const { tools } = await importModule(pathToFileURL(file).href).catch((err: unknown) => {
      throw failed(whyNot(err));
    });
    if (!Array.isArray(tools)) throw failed('it has no `export const tools = [...]`');
    // The registry validates them.
    all.push(...(tools as Tool[]));
  }
  return all;
}

/** Node's reason, and what to change where Node does not say it. */
function whyNot(err: unknown): string {
  const reason = reasonOf(err).split('\n')[0] ?? '';
  switch ((err as { code?: unknown } | null)?.code) {
    case 'ERR_UNKNOWN_FILE_EXTENSION':
      // As of a file that the module imports.
      return /"\.[cm]?ts"/.test(reason) && !process.features.typescript ? NO_TYPESCRIPT : reason;
    case 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING':
      return `${reason}. Copy it to a folder that is not below node_modules`;
    case 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX':
      return `${reason}. Node only removes types; the compiler's option \`erasableSyntaxOnly\` shows what it cannot run`;
    default:
      return err instanceof SyntaxError && READ_AS_COMMONJS.test(reason) ? `${reason}. ${AS_MODULE}` : reason;
  }
}

/** Came with Node 22.18; a flag takes it away. */
const NO_TYPESCRIPT =
  `Node ${process.versions.node}, as it was started, does not run TypeScript. Use Node 22.18 or newer, or compile the ` +
  'module to JavaScript';

const READ_AS_COMMONJS = /^Unexpected token 'export'|^Cannot use import statement/;
const AS_MODULE =
  'Node reads it as CommonJS: name it .mts or .mjs, or write "type": "module" into the package.json above it';
