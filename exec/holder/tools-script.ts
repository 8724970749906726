// How the scripts of a command call tools: where the stubs are, and what to show to be let in.
import { quote } from '../../contracts/shell-word';

/** How the scripts of one command call tools. */
export interface CommandTools {
  /** Folder of the stubs. */
  folder: string;
  socketPath: string;
  /** This command's own. */
  token: string;
}

/**
 * Sourced once in a shell, and again where the place has changed: the driver (driver.bash) then does the rest before
 * each command, because sourcing costs more. The token comes with the command.
 */
export function toolsScript({ folder, socketPath }: CommandTools): string {
  const [python, node, bin] = ['python', 'node', 'bin'].map((name) => quote(`${folder}/${name}`));
  return [
    `builtin export HOLDFAST_TOOL_SOCKET=${quote(socketPath)} HOLDFAST_TOOLS=${quote(folder)}`,
    `__hf_python=${python} __hf_node=${node} __hf_bin=${bin}`,
    '',
  ].join('\n');
}
