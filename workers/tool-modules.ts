// Own tools from modules that export a list named `tools`.
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { HoldfastError, reasonOf } from '../contracts/errors';
import type { Tool } from '../tools/tool';

/** Node's own import(): the compiler would make a require() of it, which takes no module that awaits at its top. */
const importModule = vm.runInThisContext('(url) => import(url)', {
  importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}) as (url: string) => Promise<{ tools?: unknown }>;

/** Loads the modules, given by absolute paths. Throws `tools_not_loaded`. */
export async function loadTools(files: readonly string[]): Promise<Tool[]> {
  const all: Tool[] = [];
  for (const file of files) {
    const failed = (reason: string): HoldfastError =>
      new HoldfastError('tools_not_loaded', { got: file, reason });
    const { tools } = await importModule(pathToFileURL(file).href).catch((err: unknown) => {
      throw failed(reasonOf(err));
    });
    if (!Array.isArray(tools)) throw failed('it has no `export const tools = [...]`');
    // What they are is checked by the registry.
    all.push(...(tools as Tool[]));
  }
  return all;
}
