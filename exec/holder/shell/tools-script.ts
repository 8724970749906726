// How the scripts of a command call tools: where the stubs are, and which token to show.
import { quote } from '../../../contracts/text/shell-word';

/** How the scripts of one command call tools. */
export interface CommandTools {
  /** Folder of the stubs. */
  folder: string;
  socketPath: string;
  /** For this command only. */
  token: string;
}

/**
 * Sourced once in a shell, and again when the location changes: before each command the driver (driver.bash) then does
 * the rest, because sourcing costs more. The token comes with the command.
 */
export function toolsScript({ folder, socketPath }: CommandTools): string {
  const [python, node, bin] = ['python', 'node', 'bin'].map((name) => quote(`${folder}/${name}`));
  return [
    `builtin export HOLDFAST_TOOL_SOCKET=${quote(socketPath)} HOLDFAST_TOOLS=${quote(folder)}`,
    `__hf_python=${python} __hf_node=${node} __hf_bin=${bin}`,
    '',
  ].join('\n');
}
